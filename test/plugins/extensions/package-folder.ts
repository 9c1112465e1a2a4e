import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stopBundler } from '../../../plugins/extensions/packages/bundler.ts';

/** Contents of files to write, by path; objects are written as JSON. */
export type FileContentsByPath = Readonly<Record<string, unknown>>;

export interface PackageFolder {
  readonly path: string;
  write(files: FileContentsByPath): Promise<void>;
  drop(...paths: string[]): Promise<void>;
  remove(): Promise<void>;
}

/** Creates a temporary folder with these files. */
export async function createPackageFolder(files: FileContentsByPath = {}): Promise<PackageFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'tenon-extensions-')));
  const write = async (more: FileContentsByPath) => {
    for (const [name, content] of Object.entries(more)) {
      await mkdir(dirname(join(path, name)), { recursive: true });
      await writeFile(join(path, name), typeof content === 'string' ? content : JSON.stringify(content));
    }
  };
  await write(files);
  return {
    path,
    write,
    async drop(...paths) {
      for (const one of paths) await rm(join(path, one), { recursive: true, force: true });
    },
    remove: () => rm(path, { recursive: true, force: true }),
  };
}

/** Ends the bundler's process after the tests of a file, whose builds start it. */
export const stopBundlerAfterTests = () => after(() => stopBundler());

/** A package.json with this manifest. */
export const createPackageJson = (name: string, manifest: object, more: object = {}): object => ({
  name,
  version: '1.0.0',
  type: 'module',
  ...more,
  'service:extension': { host: '^1.0.0', ...manifest },
});

export const ENDPOINT_MANIFEST = { type: 'endpoint', path: 'dist/index.js', source: 'src/index.js' } as const;
export const PANEL_MANIFEST = { type: 'panel', path: 'dist/index.js', source: 'src/index.js' } as const;
export const OPERATION_MANIFEST = {
  type: 'operation',
  path: { app: 'dist/app.js', api: 'dist/api.js' },
  source: { app: 'src/app.js', api: 'src/api.js' },
} as const;
export const BUNDLE_MANIFEST = { type: 'bundle', path: { app: 'dist/app.js', api: 'dist/api.js' } } as const;
export const CONFINED_RUNTIME = { runtime: 'confined-server' } as const;
