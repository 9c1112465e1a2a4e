import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Host } from '#kernel';
import { type BootOptions, boot, type Kernel, type PluginComposition } from '#kernel/boot';
import { type ThirdPartyLifecycle, ThirdPartyPlugins } from '../../plugins/extensions/third-party/plugins.ts';

/** A package made for one test. `register` runs in this process with the test's own variables; `code` is a module's text. */
export interface TestPlugin {
  readonly name: string;
  readonly version?: string;
  /** Members of `service:extension` beside `type`, `path` and `host`, which have sensible values. */
  readonly manifest?: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: a sketch may use members that its manifest does not declare
  readonly register?: (host: Host<any>) => unknown;
  /** `#kernel` and `#root/…` in import paths stand for the kernel and for files of this repository. */
  readonly code?: string;
  /** The whole text of package.json, for tests of broken ones. */
  readonly packageText?: string;
  /** A third-party plugin: found in the folder `local` instead of being part of the composition. */
  readonly thirdParty?: boolean;
}

export interface TestComposition {
  readonly composition: PluginComposition;
  readonly folder: string;
  /** Of third-party plugins. */
  readonly local: string;
  remove(): Promise<void>;
}

const root = new URL('../../', import.meta.url);
/** Where the written packages find the test's functions. */
const registers = new Map<string, unknown>();
Object.assign(globalThis, { [Symbol.for('tenon.test.register')]: registers });

/** Folders of tests that ended before they removed them. */
const leftoverFolders = new Set<string>();
process.on('exit', () => {
  for (const folder of leftoverFolders) rmSync(folder, { recursive: true, force: true });
});

/** Writes the packages into a temporary folder and answers the composition that loads them. */
export async function writePlugins(plugins: readonly TestPlugin[]): Promise<TestComposition> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'tenon-plugins-')));
  leftoverFolders.add(folder);
  const ids: string[] = [];
  const core: URL[] = [];
  for (const [at, plugin] of plugins.entries()) {
    const place = join(folder, plugin.thirdParty ? 'local' : 'core', `${at}-${plugin.name.replace(/\W/g, '-')}`);
    await mkdir(place, { recursive: true });
    await writeFile(join(place, 'package.json'), plugin.packageText ?? createPackageJson(plugin));
    const id = `${place}/index.js`;
    registers.set(id, plugin.register ?? (() => {}));
    ids.push(id);
    await writeFile(join(place, 'index.js'), plugin.code ? resolveImports(plugin.code) : createEntryFile(id));
    if (!plugin.thirdParty) core.push(pathToFileURL(`${place}/`));
  }
  return {
    folder,
    composition: { plugins: core },
    local: join(folder, 'local'),
    async remove() {
      for (const id of ids) registers.delete(id);
      await rm(folder, { recursive: true, force: true });
      leftoverFolders.delete(folder);
    },
  };
}

const createPackageJson = ({ name, version = '1.0.0', manifest = {} }: TestPlugin): string =>
  JSON.stringify({
    name,
    version,
    type: 'module',
    'service:extension': { type: 'plugin', path: 'index.js', host: '^1.0.0', ...manifest },
  });

const createEntryFile = (id: string): string => `
const register = globalThis[Symbol.for('tenon.test.register')].get(${JSON.stringify(id)});
export default { manifest: {}, register };
`;

const resolveImports = (code: string): string =>
  code
    .replaceAll(/(['"])#kernel\1/g, `'${new URL('kernel/index.ts', root).href}'`)
    .replaceAll(/(['"])#root\/([^'"]+)\1/g, (_all, _quote, path: string) => `'${new URL(path, root).href}'`);

/** Settings under which a kernel in a test writes no log, reads no file and takes a free port. */
export const silentSettings = { HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'silent', CONFIG_PATH: '/dev/null' } as const;

export interface BootedKernel {
  readonly kernel: Kernel;
  /** Parsed log lines so far. */
  readonly log: readonly Record<string, unknown>[];
}

/** Loads third-party plugins as `extensions` does, and agrees to all they ask for. */
const thirdPartyLoader = (folder: string): TestPlugin => ({
  name: 'third-party-loader',
  manifest: { capabilities: { packages: true, log: true } },
  register(host) {
    const { packages, log } = host;
    const plugins = new ThirdPartyPlugins({ packages, log, folder, consent: async () => undefined });
    host.onMigrate(async () => void (await plugins.refresh()));
    host.onStart(() => plugins.start());
    loaders.set(folder, plugins);
  },
});

/** By the folder of third-party plugins, for tests that load and unload them. */
export const loaders = new Map<string, ThirdPartyLifecycle>();

/** Boots sketches beside the named plugins of the `product`, hands the kernel to `work`, and stops and removes everything even after a failure. */
export async function withPlugins<T>(
  plugins: readonly TestPlugin[],
  work: (booted: BootedKernel) => Promise<T> | T,
  { product = [], ...options }: BootOptions & { readonly product?: readonly string[] } = {},
): Promise<T> {
  const { composition, local, remove } = await writePlugins(plugins);
  const loading = await writePlugins(plugins.some((one) => one.thirdParty) ? [thirdPartyLoader(local)] : []);
  const log: Record<string, unknown>[] = [];
  let kernel: Kernel | undefined;
  try {
    const own = product.map((name) => new URL(`plugins/${name}/`, root));
    kernel = await boot(
      { plugins: [...own, ...composition.plugins, ...loading.composition.plugins] },
      {
        ...options,
        environment: { ...silentSettings, ...options.environment },
        log: (line) => void log.push(JSON.parse(line)),
      },
    );
    return await work({ kernel, log });
  } finally {
    await kernel?.stop();
    await remove();
    await loading.remove();
  }
}

/** The error that a promise rejects with or a function throws; fails the test when there is none. */
export async function captureError<E = Error & Record<string, unknown>>(
  run: Promise<unknown> | (() => unknown),
): Promise<E> {
  try {
    await (typeof run === 'function' ? run() : run);
  } catch (error) {
    return error as E;
  }
  throw new Error('it was expected to fail, but it did not');
}
