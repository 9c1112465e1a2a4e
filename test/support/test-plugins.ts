import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Host } from '#kernel';
import { type BootOptions, boot, type CorePluginFolders, type Kernel } from '#kernel/boot';
import { type ThirdPartyPluginLifecycle, ThirdPartyPlugins } from '../../plugins/extensions/third-party/plugins.ts';

/** A plugin that a test defines, by `register`, a closure that runs in this process, or by `code`, the source of a module. */
export interface TestPlugin {
  readonly name: string;
  readonly version?: string;
  /** Members of `service:extension` in package.json. `type`, `path` and `host` have defaults. */
  readonly manifest?: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: a sketch may use members that its manifest does not declare
  readonly register?: (host: Host<any>) => unknown;
  /** Source of the entry file. `#kernel` and `#root/…` in import paths stand for the kernel and files of this repository. */
  readonly code?: string;
  /** The whole text of package.json, for tests of invalid ones. */
  readonly packageText?: string;
  /** Whether the plugin is third-party: written to the folder `local` instead of being part of the composition. */
  readonly thirdParty?: boolean;
}

export interface TestComposition {
  readonly composition: CorePluginFolders;
  readonly folder: string;
  /** Folder of the third-party plugins. */
  readonly local: string;
  remove(): Promise<void>;
}

const root = new URL('../../', import.meta.url);
/** Register functions of test plugins; the written entry files look them up by their path. */
const registers = new Map<string, unknown>();
Object.assign(globalThis, { [Symbol.for('tenon.test.register')]: registers });

/** Folders of written plugins that are not removed yet; the rest is removed when the process exits. */
const leftoverFolders = new Set<string>();
process.on('exit', () => {
  for (const folder of leftoverFolders) rmSync(folder, { recursive: true, force: true });
});

/** Writes plugins as packages into a temporary folder and returns the composition that loads them. */
export async function writeTestPluginPackages(plugins: readonly TestPlugin[]): Promise<TestComposition> {
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
export const silentSettings = {
  HOST: '127.0.0.1',
  PORT: '0',
  LOG_LEVEL: 'silent',
  CONFIG_PATH: '/dev/null',
  SERVER_SHUTDOWN_DELAY: '0',
} as const;

export interface BootedKernel {
  readonly kernel: Kernel;
  /** Parsed log lines so far. */
  readonly log: readonly Record<string, unknown>[];
}

/** A plugin that loads third-party plugins as the plugin `extensions` does, but without an admin's consent. */
const thirdPartyLoader = (folder: string): TestPlugin => ({
  name: 'third-party-loader',
  manifest: { capabilities: { packages: true, log: true } },
  register(host) {
    const { packages, log } = host;
    const plugins = new ThirdPartyPlugins({ packages, log, folder, consent: async () => undefined });
    host.onMigrate(async () => void (await plugins.refresh()));
    host.onStart(() => plugins.start());
    thirdPartyLoaders.set(folder, plugins);
  },
});

/** Loaders of third-party plugins, by their folder, for tests that load and unload plugins. */
export const thirdPartyLoaders = new Map<string, ThirdPartyPluginLifecycle>();

/** Boots test plugins beside the core plugins named in `product`, runs `work` with the kernel, and stops it afterwards. */
export async function withBootedTestPlugins<T>(
  plugins: readonly TestPlugin[],
  work: (booted: BootedKernel) => Promise<T> | T,
  { product = [], ...options }: BootOptions & { readonly product?: readonly string[] } = {},
): Promise<T> {
  const { composition, local, remove } = await writeTestPluginPackages(plugins);
  const loading = await writeTestPluginPackages(plugins.some((one) => one.thirdParty) ? [thirdPartyLoader(local)] : []);
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

/** Returns the error that a promise rejects with or a function throws. @throws Error when there is none. */
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
