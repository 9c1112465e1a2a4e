import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };

export const projectRoot = fileURLToPath(new URL('../../', import.meta.url));

export interface ParsedImport {
  /** The import path as in the source, such as `./a.ts` or `node:fs`. */
  readonly specifier: string;
  /** Path of the imported file from the repository's root; null for packages and modules. */
  readonly target: string | null;
  readonly typeOnly: boolean;
}

export interface ParsedCodeFile {
  /** Path from the repository's root, with forward slashes. */
  readonly path: string;
  /** Source text without comments. */
  readonly text: string;
  /** Source text with comments. */
  readonly raw: string;
  readonly lines: number;
  readonly imports: readonly ParsedImport[];
  /** Number of `import(…)` and `require(…)` whose path is not a literal. */
  readonly computedImports: number;
}

/** Reads and parses all TypeScript files under a folder. */
export const readTypeScriptFiles = (folder: string): readonly ParsedCodeFile[] => parseFiles(`${folder}/**/*.ts`);

/** Reads and parses all TypeScript and JavaScript files under a folder. */
export const readCodeFiles = (folder: string): readonly ParsedCodeFile[] =>
  parseFiles(`${folder}/**/*.{ts,js,mjs,cjs}`);

const parseFiles = (pattern: string): readonly ParsedCodeFile[] =>
  globSync(pattern, { cwd: projectRoot, exclude: (path) => /node_modules/.test(String(path)) })
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
    .map((path) => parseCodeFile(path, readFileSync(join(projectRoot, path), 'utf8')));

export function parseCodeFile(path: string, raw: string): ParsedCodeFile {
  const text = withoutComments(raw);
  return {
    path,
    text,
    raw,
    lines: raw.split('\n').length - 1,
    imports: parseImports(path, text),
    computedImports: [...text.matchAll(/\b(?:import|require)\s*\(\s*(?!['"])/g)].length,
  };
}

/** Removes comments from a source text. Strings stay as they are, also those that contain `//`. */
const withoutComments = (text: string): string =>
  text.replace(
    /('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g,
    (_all, literal?: string) => literal ?? '',
  );

const IMPORT =
  /\b(?:import|export)\s+(type\s+)?(?:([\w*\s{},$]+?)\s*from\s*)?(['"])([^'"\n]+)\3|\b(?:import|require)\s*\(\s*(['"])([^'"\n]+)\5/g;

const parseImports = (path: string, text: string): readonly ParsedImport[] =>
  [...text.matchAll(IMPORT)].map(([, type, names = '', , stated, , called]) => {
    const specifier = (stated ?? called) as string;
    return {
      specifier,
      target: specifier.startsWith('.') ? normalize(join(dirname(path), specifier)).replaceAll('\\', '/') : null,
      typeOnly: type !== undefined || /^\{(?:\s*type\s+[\w$]+(?:\s+as\s+[\w$]+)?\s*,?)+\s*\}$/.test(names.trim()),
    };
  });

/** Imports that a pure file may have: `#kernel`, and modules and packages that reach nothing outside of the process. */
const COMPUTING = new Set(['#kernel', 'node:crypto', 'node:util', 'ipaddr.js']);

/**
 * Whether a file only computes: it imports only types, pure modules and other pure files of `sources`. Importing such a file
 * gives no access to anything, whatever its plugin may do.
 */
export function isPureCodeFile(path: string, sources: readonly ParsedCodeFile[]): boolean {
  const all = new Map(sources.map((source) => [source.path, source]));
  const reached = new Set([path]);
  for (const one of reached) {
    const source = all.get(one);
    if (!source || source.computedImports > 0) return false;
    for (const { specifier, target, typeOnly } of source.imports) {
      if (typeOnly || COMPUTING.has(specifier)) continue;
      if (target === null) return false;
      reached.add(target);
    }
  }
  return true;
}

/** Paths of the files behind `#kernel` and the other subpath imports in package.json. */
const SUBPATHS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(manifest.imports).map(([name, path]) => [name, normalize(path).replaceAll('\\', '/')]),
);

/**
 * Finds an import cycle, as the text `a.ts → b.ts → a.ts`; undefined where there is none. Type-only imports do not count,
 * because Node removes them before it runs a file.
 */
export function findImportCycle(sources: readonly ParsedCodeFile[]): string | undefined {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const done = new Set<string>();
  const visit = (path: string, above: readonly string[]): string | undefined => {
    if (above.includes(path)) return [...above.slice(above.indexOf(path)), path].join(' → ');
    if (done.has(path)) return undefined;
    for (const { specifier, target, typeOnly } of byPath.get(path)?.imports ?? []) {
      const imported = target ?? SUBPATHS[specifier];
      if (imported === undefined || typeOnly) continue;
      const found = visit(imported, [...above, path]);
      if (found) return found;
    }
    done.add(path);
    return undefined;
  };
  for (const { path } of sources) {
    const found = visit(path, []);
    if (found) return found;
  }
  return undefined;
}

/** The package name of an import path: `@scope/name/sub` gives `@scope/name`, `name/sub` gives `name`. */
export const packageNameOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
