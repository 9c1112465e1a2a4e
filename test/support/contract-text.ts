import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { projectRoot } from './sources.ts';

/** One export of a file: a constant, an interface, a type, or a name re-exported from a file of the same folder. */
export interface ContractExport {
  readonly name: string;
  /** Path of the file that declares the export, from the repository's root. */
  readonly path: string;
  readonly line: number;
  /** Text of the doc comment right above the export, without stars; undefined where there is none. */
  readonly doc: string | undefined;
}

/** One method of an interface in a contract. */
export interface ContractMethod {
  readonly name: string;
  readonly line: number;
  /** Text of the method's doc comment, without stars; empty where there is none. */
  readonly doc: string;
  /** Parameters as in the source, for example `caller: Caller`. */
  readonly parameters: readonly string[];
}

/** A service that a contract defines: `service<Name>('id', …)`. */
export interface ContractService {
  readonly id: string;
  /** Name of the service's interface. */
  readonly type: string;
  /** Methods of the interface; undefined where the file does not declare it. */
  readonly methods: readonly ContractMethod[] | undefined;
}

const DECLARATION = /^export (?:declare )?(?:const|interface|type|abstract class|class|function) (\w+)/;
const REEXPORTED = /^export (?:type )?\{([^}]*)\} from '(\.\/[^']+)';/gm;
const SERVICE = /\bservice<(\w+)>\(\s*'([^']+)'/g;

/** Reads the exports of a file, including re-exports from files of its folder, but not from other plugins. */
export function readExports(path: string): readonly ContractExport[] {
  const text = read(path);
  const passedOn = [...text.matchAll(REEXPORTED)].flatMap(([, names = '', from = '']) => {
    const target = join(dirname(path), from).replaceAll('\\', '/');
    const declared = new Map(parseExports(target, read(target)).map((one) => [one.name, one]));
    return namesOf(names).map((name) => declared.get(name) ?? { name, path: target, line: 0, doc: undefined });
  });
  return [...parseExports(path, text), ...passedOn];
}

/** Parses the names in an export list: `type A, B as C` gives `A`, `B`. */
const namesOf = (list: string): readonly string[] =>
  list.split(',').flatMap((one) => /^\s*(?:type\s+)?(\w+)/.exec(one)?.[1] ?? []);

/** Parses the exported declarations of a source text. Lists such as `export { … }` are left out. */
export function parseExports(path: string, text: string): readonly ContractExport[] {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    const name = DECLARATION.exec(line)?.[1];
    return name ? [{ name, path, line: at + 1, doc: docAbove(lines, at) }] : [];
  });
}

export const readContractServices = (path: string): readonly ContractService[] => parseContractServices(read(path));

export const parseContractServices = (text: string): readonly ContractService[] =>
  [...text.matchAll(SERVICE)].map(([, type, id]) => ({
    id: id as string,
    type: type as string,
    methods: parseInterfaceMethods(text, type as string),
  }));

/** Position of the first parameter of the type `Caller`; undefined where there is none. */
export function callerParameterIndex({ parameters, doc }: ContractMethod): number | undefined {
  const at = parameters.findIndex((parameter) => /^\w+\??:\s*Caller(?:\s*\|\s*null)?$/.test(parameter));
  if (at < 0) return undefined;
  // The kernel refuses null for declared caller parameters, so methods whose doc gives null a meaning are left out.
  return /\|\s*null$/.test(parameters[at] as string) && /\bnull\b/i.test(doc) ? undefined : at;
}

/** Reads the names of the interfaces that a file exports. */
export const readExportedInterfaceNames = (path: string): readonly string[] =>
  [...read(path).matchAll(/^export interface (\w+)/gm)].map(([, name]) => name as string);

/** Reads the methods of an interface that a file exports. */
export const readInterfaceMethods = (path: string, name: string): readonly ContractMethod[] =>
  parseInterfaceMethods(read(path), name) ?? [];

/** Parses the methods of an exported interface in a source text; undefined where the text does not declare it. */
export function parseInterfaceMethods(text: string, name: string): readonly ContractMethod[] | undefined {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => new RegExp(`^export interface ${name}\\b`).test(line));
  if (start < 0) return undefined;
  const end = lines.findIndex((line, at) => at > start && line === '}');
  const methods: ContractMethod[] = [];
  for (let at = start + 1; at < end; at += 1) {
    // Members are indented by two spaces. `readonly x: () => …` counts as a method, since it is called like one.
    const method = /^ {2}(?:readonly )?(\w+)\??(?::\s*)?(?:<.*?>)?\((.*)$/.exec(lines[at] ?? '');
    if (!method) continue;
    const rest = [method[2], ...lines.slice(at + 1, end)].join('\n');
    methods.push({
      name: method[1] as string,
      line: at + 1,
      doc: docAbove(lines, at) ?? '',
      parameters: splitParametersAtTopLevel(withoutComments(rest)),
    });
  }
  return methods;
}

/** Splits the inside of a parameter list at its top-level commas, up to the bracket that closes the list. */
export function splitParametersAtTopLevel(text: string): readonly string[] {
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

/** Text of the doc comment above a line; `//` lines of a linter may stand between. */
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
