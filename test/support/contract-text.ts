import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { projectRoot } from './sources.ts';

/** One thing that a file exports: a constant, an interface, a type, or a name it passes on from a neighbouring file. */
export interface ContractExport {
  readonly name: string;
  /** From the repository's root. */
  readonly path: string;
  readonly line: number;
  /** Text of the doc comment right above it, without stars; undefined where there is none. */
  readonly doc: string | undefined;
}

/** One method of an interface. */
export interface ContractMethod {
  readonly name: string;
  readonly line: number;
  /** Text of its doc comment, without stars; empty where there is none. */
  readonly doc: string;
  /** Parameters as written, for example `caller: Caller`. */
  readonly parameters: readonly string[];
}

/** A service that a contract defines: `service<Name>('id', …)`. */
export interface ContractService {
  readonly id: string;
  /** The interface it is provided as. */
  readonly type: string;
  /** Undefined where the file has no interface of this name. */
  readonly methods: readonly ContractMethod[] | undefined;
}

const DECLARATION = /^export (?:declare )?(?:const|interface|type|abstract class|class|function) (\w+)/;
const REEXPORTED = /^export (?:type )?\{([^}]*)\} from '(\.\/[^']+)';/gm;
const SERVICE = /\bservice<(\w+)>\(\s*'([^']+)'/g;

/** What a file exports itself, and what it passes on from files of its own folder. Names of other plugins are left out. */
export function readExports(path: string): readonly ContractExport[] {
  const text = read(path);
  const passedOn = [...text.matchAll(REEXPORTED)].flatMap(([, names = '', from = '']) => {
    const target = join(dirname(path), from).replaceAll('\\', '/');
    const declared = new Map(parseExports(target, read(target)).map((one) => [one.name, one]));
    return namesOf(names).map((name) => declared.get(name) ?? { name, path: target, line: 0, doc: undefined });
  });
  return [...parseExports(path, text), ...passedOn];
}

/** `type A, B as C` → `A`, `B`. */
const namesOf = (list: string): readonly string[] =>
  list.split(',').flatMap((one) => /^\s*(?:type\s+)?(\w+)/.exec(one)?.[1] ?? []);

/** What a text declares and exports: `export { … }` is left out. */
export function parseExports(path: string, text: string): readonly ContractExport[] {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    const name = DECLARATION.exec(line)?.[1];
    return name ? [{ name, path, line: at + 1, doc: docAbove(lines, at) }] : [];
  });
}

export const readServices = (path: string): readonly ContractService[] => parseServices(read(path));

export const parseServices = (text: string): readonly ContractService[] =>
  [...text.matchAll(SERVICE)].map(([, type, id]) => ({
    id: id as string,
    type: type as string,
    methods: parseMethods(text, type as string),
  }));

/** Position of the first parameter of the type `Caller`; undefined where there is none. */
export function callerPosition({ parameters, doc }: ContractMethod): number | undefined {
  const at = parameters.findIndex((parameter) => /^\w+\??:\s*Caller(?:\s*\|\s*null)?$/.test(parameter));
  if (at < 0) return undefined;
  // The kernel refuses null for a caller: a method that says what null means takes it by itself.
  return /\|\s*null$/.test(parameters[at] as string) && /\bnull\b/i.test(doc) ? undefined : at;
}

/** Names of the interfaces that a file exports. */
export const readInterfaces = (path: string): readonly string[] =>
  [...read(path).matchAll(/^export interface (\w+)/gm)].map(([, name]) => name as string);

/** Methods of an interface that a file exports. */
export const readMethods = (path: string, name: string): readonly ContractMethod[] =>
  parseMethods(read(path), name) ?? [];

/** Every method of an interface, in one or in several lines, by its text. */
export function parseMethods(text: string, name: string): readonly ContractMethod[] | undefined {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => new RegExp(`^export interface ${name}\\b`).test(line));
  if (start < 0) return undefined;
  const end = lines.findIndex((line, at) => at > start && line === '}');
  const methods: ContractMethod[] = [];
  for (let at = start + 1; at < end; at += 1) {
    // Members stand two columns in; `readonly x: () => …` is called like a method, so it counts as one.
    const method = /^ {2}(?:readonly )?(\w+)\??(?::\s*)?(?:<.*?>)?\((.*)$/.exec(lines[at] ?? '');
    if (!method) continue;
    const rest = [method[2], ...lines.slice(at + 1, end)].join('\n');
    methods.push({
      name: method[1] as string,
      line: at + 1,
      doc: docAbove(lines, at) ?? '',
      parameters: splitTopLevel(withoutComments(rest)),
    });
  }
  return methods;
}

/** The parts between top-level commas, up to the bracket that closes the list which `text` is inside of. */
export function splitTopLevel(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] as string;
    const isArrow = char === '>' && text[at - 1] === '=';
    if ('([{<'.includes(char)) depth += 1;
    if (')]}>'.includes(char) && !isArrow) depth -= 1;
    if (depth < 0) break;
    if (char === ',' && depth === 0) {
      parts.push(part);
      part = '';
    } else part += char;
  }
  return [...parts, part].map((one) => one.replace(/\s+/g, ' ').trim()).filter((one) => one !== '');
}

/** A comment that `//` lines (of a linter) may separate from what it is about. */
function docAbove(lines: readonly string[], at: number): string | undefined {
  let end = at - 1;
  while (/^\s*\/\//.test(lines[end] ?? '')) end -= 1;
  if (!/\*\/\s*$/.test(lines[end] ?? '')) return undefined;
  let start = end;
  while (start > 0 && !/^\s*\/\*/.test(lines[start] ?? '')) start -= 1;
  const comment = lines.slice(start, end + 1).join('\n');
  if (!/^\s*\/\*\*/.test(comment)) return undefined;
  return comment
    .replace(/^\s*\/\*\*|\*\/\s*$/g, '')
    .replace(/^\s*\*/gm, '')
    .trim();
}

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '');

const read = (path: string): string => readFileSync(join(projectRoot, path), 'utf8');
