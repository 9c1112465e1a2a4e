import { readFile, realpath, stat } from 'node:fs/promises';
import Module, { createRequire } from 'node:module';
import { dirname, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DiscoveredExtension } from '../extensions/contract.ts';
import { LoadFailure } from '../extensions/library.ts';

/** Error codes of a missing file or import. */
const UNRESOLVED_CODES: readonly unknown[] = [
  'ERR_MODULE_NOT_FOUND',
  'MODULE_NOT_FOUND',
  'ERR_PACKAGE_PATH_NOT_EXPORTED',
  'ERR_PACKAGE_IMPORT_NOT_DEFINED',
  'ERR_UNSUPPORTED_DIR_IMPORT',
];
const PACKAGES = `${sep}node_modules${sep}`;
let loads = 0;

type Namespace = Readonly<Record<string, unknown>>;

/**
 * Imports the built entry of an extension, anew at each call. @throws LoadFailure ENTRYPOINT_NOT_FOUND or REGISTRATION_FAILED.
 */
export async function importExtensionEntry({ name, folder, files, manifest }: DiscoveredExtension): Promise<Namespace> {
  const { api } = files;
  if (api === undefined || !(await isFile(api)))
    throw new LoadFailure('ENTRYPOINT_NOT_FOUND', `the built entry of ${name} is not there. Build the extension.`);
  forgetCommonJs(await realpath(folder));
  try {
    return (await import(`${pathToFileURL(api).href}?v=${++loads}`)) as Namespace;
  } catch (error) {
    // A single file has no package.json of its own, so its module type is tried: first ESM, then CommonJS.
    if (manifest || !isCommonJs(error)) throw toLoadFailure(name, error);
  }
  try {
    return { default: compileCommonJs(api, await readFile(api, 'utf8')) };
  } catch (error) {
    throw toLoadFailure(name, error);
  }
}

const isCommonJs = (error: unknown): boolean =>
  error instanceof ReferenceError &&
  /^(?:module|exports|require|__filename|__dirname) is not defined in ES module scope/.test(error.message);

interface CommonJsModule {
  filename: string;
  paths: readonly string[];
  readonly exports: unknown;
  _compile(source: string, path: string, format: 'commonjs'): void;
}

function compileCommonJs(path: string, source: string): unknown {
  const module = new Module(path) as unknown as CommonJsModule;
  module.filename = path;
  module.paths = (Module as unknown as { _nodeModulePaths(from: string): string[] })._nodeModulePaths(dirname(path));
  module._compile(source, path, 'commonjs');
  return module.exports;
}

/** The default export: `export default`, `module.exports`, or `exports.default` of a module compiled to CommonJS. */
export function unwrapDefaultExport(namespace: Namespace): unknown {
  let value: unknown = namespace.default ?? namespace;
  for (let depth = 0; depth < 2 && isModuleObject(value); depth++) value = value.default;
  return value;
}

const isModuleObject = (value: unknown): value is { readonly default: unknown } =>
  typeof value === 'object' && value !== null && 'default' in value && value.default !== undefined;

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
}

/** Removes the package's own files from the CommonJS cache, but not its dependencies. */
function forgetCommonJs(folder: string): void {
  const { cache } = createRequire(import.meta.url);
  for (const path of Object.keys(cache)) {
    if (path.startsWith(`${folder}${sep}`) && !path.slice(folder.length).includes(PACKAGES)) delete cache[path];
  }
}

function toLoadFailure(name: string, error: unknown): LoadFailure {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  const text = typeof message === 'string' ? message : String(error);
  return UNRESOLVED_CODES.includes(code)
    ? new LoadFailure('ENTRYPOINT_NOT_FOUND', `${name} imports a module that is not installed: ${text}`, {
        cause: error,
      })
    : new LoadFailure('REGISTRATION_FAILED', text, { cause: error });
}
