import { dirname, extname, join } from 'node:path';
import type { PackageFile, PackageFileReader } from '../../extensions/contract.ts';
import {
  type BuildPlugin,
  type Loader,
  LoadFailure,
  listBuildErrors,
  type OnLoadResult,
  type OnResolveArgs,
  type OnResolveResult,
  runEsbuildWithDeadline,
} from '../../extensions/library.ts';
import type { ConfinedScriptText } from '../../sandbox/contract.ts';
import {
  CONFINED_SDK,
  CONFINED_SDK_EXPORTS,
  findImportRefusalReason,
  isConfinedSdk,
  isRelativeImport,
} from './refused-imports.ts';
import { createSourcePositions, NO_SOURCE_POSITIONS, type SourcePositions } from './source-positions.ts';

const LOADERS: Readonly<Record<string, Loader>> = {
  '.js': 'js',
  '.mjs': 'js',
  '.cjs': 'js',
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
  '.json': 'json',
};
const ENDINGS = ['', '.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.json', '/index.js', '/index.ts'];
const PACKAGE_NAMESPACE = 'package';
const KIT_NAMESPACE = 'kit';

/** The SDK for confined code: each function answers its argument. */
const KIT_SOURCE = CONFINED_SDK_EXPORTS.map((name) => `export const ${name} = (config) => config;`).join('\n');

/** The script that is probed and run, with the source positions of its parts. */
export interface BuiltScript {
  readonly script: ConfinedScriptText;
  readonly positions: SourcePositions;
}

const HEAD = '(function (module, exports) {\n';

/**
 * Builds a built entry and its imports from the same package into one script, `(function (module, exports) { … })`,
 * which is probed and then run without reading a file again (conventions, "Load gate", 4 and 6). Accepts ESM, CommonJS
 * and TypeScript. `limit` is in bytes, for all files together and for the script.
 * @throws LoadFailure
 */
export async function buildConfinedScript(
  files: PackageFileReader,
  built: string,
  limit: number,
): Promise<BuiltScript> {
  const entry = await files.find(built);
  if (!entry)
    throw new LoadFailure('SOURCE_UNAVAILABLE', 'The built entry that "path" names is missing; build the package.');
  const refusedImports = new RefusedImports();
  try {
    const { outputFiles } = await runEsbuildWithDeadline({
      entryPoints: [entry.path],
      absWorkingDir: files.root,
      bundle: true,
      write: false,
      // The source map gives authors the positions of failures; it needs no contents.
      sourcemap: 'external',
      sourcesContent: false,
      outfile: join(files.root, 'artifact.js'),
      format: 'cjs',
      platform: 'neutral',
      target: 'node24',
      // The confined engine runs without `using`, which would make each context more expensive
      // (sandbox/runner/node-flags.ts).
      supported: { using: false },
      charset: 'utf8',
      legalComments: 'none',
      minifyWhitespace: true,
      logLevel: 'silent',
      // Without `tsconfigRaw` esbuild would read a tsconfig.json of the package and those that it extends.
      tsconfigRaw: '{}',
      plugins: [createContainmentPlugin(files, entry, limit, refusedImports)],
    });
    const contentsOf = (ending: string) => outputFiles?.find(({ path }) => path.endsWith(ending))?.contents;
    const text = contentsOf('.js');
    if (!text || text.length > limit) throw createTooLarge(entry, limit);
    const map = contentsOf('.map');
    return {
      script: `${HEAD}${Buffer.from(text).toString('utf8')}\n})`,
      positions: map
        ? createSourcePositions(Buffer.from(map).toString('utf8'), HEAD.split('\n').length, files.root)
        : NO_SOURCE_POSITIONS,
    };
  } catch (error) {
    throw refusedImports.first() ?? (error instanceof LoadFailure ? error : toInvalidEntry(error, files));
  }
}

/** esbuild reads no file by itself: this plugin resolves every import and reads every file of the package. */
function createContainmentPlugin(
  files: PackageFileReader,
  entry: PackageFile,
  limit: number,
  refusedImports: RefusedImports,
): BuildPlugin {
  let left = limit;
  return {
    name: 'own-files-only',
    setup(build) {
      build.onResolve({ filter: /.*/ }, (args) =>
        refusedImports.capture(args, () => resolveImport(files, entry, args)),
      );
      build.onLoad({ filter: /.*/, namespace: KIT_NAMESPACE }, () => ({ contents: KIT_SOURCE, loader: 'js' }));
      build.onLoad({ filter: /.*/, namespace: PACKAGE_NAMESPACE }, (args) =>
        refusedImports.capture(args, async (): Promise<OnLoadResult> => {
          const file: PackageFile = { path: args.path, displayPath: args.pluginData ?? entry.displayPath };
          const loader = LOADERS[extname(file.path)];
          if (!loader)
            throw new LoadFailure(
              'INVALID_ENTRY',
              `"${file.displayPath}" is not a script; import scripts and JSON only.`,
            );
          const contents = await files.read(file, left, 'SOURCE_READ_FAILED');
          left -= contents?.length ?? Number.POSITIVE_INFINITY;
          if (!contents || left < 0) throw createTooLarge(entry, limit);
          return { contents, loader };
        }),
      );
    },
  };
}

async function resolveImport(
  files: PackageFileReader,
  entry: PackageFile,
  args: OnResolveArgs,
): Promise<OnResolveResult> {
  const { path, importer, kind } = args;
  if (kind === 'entry-point') return { path: entry.path, namespace: PACKAGE_NAMESPACE, pluginData: entry.displayPath };
  if (isConfinedSdk(path)) return { path, namespace: KIT_NAMESPACE, sideEffects: false };
  const from = importer === entry.path ? entry.displayPath : 'one of its files';
  if (isRelativeImport(path) && kind !== 'require-resolve') {
    const base = join(dirname(importer), path);
    for (const one of [base, ...(/\.[mc]?js$/.test(base) ? [base.replace(/js$/, 'ts')] : [])]) {
      for (const ending of ENDINGS) {
        const file = await files.find(one + ending);
        if (file) return { path: file.path, namespace: PACKAGE_NAMESPACE, pluginData: file.displayPath };
      }
    }
    throw new LoadFailure(
      'ENTRYPOINT_NOT_FOUND',
      `The built entry imports a file that is not there (in "${from}"); build the package.`,
    );
  }
  const refused = findImportRefusalReason(path);
  const name = path.replace(/[^\w@/:.#-]/g, '?').slice(0, 80);
  if (refused) throw new LoadFailure(refused.code, `The built entry imports "${name}": ${refused.advice}.`);
  if (path.startsWith('/') || /^[a-z]:/i.test(path) || path.startsWith('file:')) {
    throw new LoadFailure('LOCAL_PATH_ESCAPES_ROOT', 'The built entry imports an absolute path; import relative ones.');
  }
  throw new LoadFailure('ENTRYPOINT_NOT_FOUND', `The built entry imports "${name}"; build it into the entry.`);
}

const createTooLarge = (entry: PackageFile, limit: number) =>
  new LoadFailure(
    'ARTIFACT_TOO_LARGE',
    `"${entry.displayPath}" and what it imports are larger than ${limit} bytes (EXTENSIONS_SANDBOX_MAX_ARTIFACT).`,
  );

/** Turns an error of esbuild into INVALID_ENTRY without quoting the script. */
function toInvalidEntry(error: unknown, files: PackageFileReader): LoadFailure {
  const [first] = listBuildErrors(error);
  if (!first) return new LoadFailure('INVALID_ENTRY', 'The built entry cannot be read.', { cause: error });
  if (first.text.startsWith(`No matching export in "${KIT_NAMESPACE}:`)) {
    return new LoadFailure(
      'USES_LEGACY_SDK_RUNTIME_IMPORT',
      `The built entry imports a name that "${CONFINED_SDK}" does not have for confined code; it has ${CONFINED_SDK_EXPORTS.join(', ')}.`,
    );
  }
  const { file = '', line } = first.location ?? {};
  const shown = file.replace(/^package:/, '').replace(`${files.root}/`, '');
  const where = line === undefined ? '' : ` (${shown}, line ${line})`;
  return new LoadFailure('INVALID_ENTRY', `The built entry is not valid: ${first.text.slice(0, 100)}${where}.`, {
    cause: error,
  });
}

/** Imports that the plugin refused. esbuild reads several files at once, so the first one is the first by name. */
class RefusedImports {
  readonly #all = new Map<string, unknown>();

  /** Runs `work` and keeps what it throws; esbuild gets a build error. */
  async capture<T extends object>(args: { path: string; importer?: string }, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.#all.set(`${args.importer ?? ''}\n${args.path}`, error);
      return { errors: [{ text: 'refused' }] } as unknown as T;
    }
  }

  first(): unknown {
    return [...this.#all].sort(([a], [b]) => (a < b ? -1 : 1))[0]?.[1];
  }
}
