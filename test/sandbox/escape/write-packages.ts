import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** An extension package to write: its name, members of its manifest, and its files. */
export interface PackageSketch {
  readonly name: string;
  readonly manifest?: Readonly<Record<string, unknown>>;
  /** Text by path; `index.js` is both source and built file unless the manifest says otherwise. */
  readonly files?: Readonly<Record<string, string>>;
  /** The whole text of package.json, for an invalid one. */
  readonly text?: string;
}

/** The manifest of a confined endpoint that anyone may call. */
export const PUBLIC_ENDPOINT_MANIFEST = {
  type: 'endpoint',
  path: 'index.js',
  source: 'index.js',
  host: '^1.0.0',
  runtime: 'confined-server',
  capabilities: { endpoint: { access: 'public' } },
};

export interface WrittenPackages {
  readonly folder: string;
  remove(): Promise<void>;
}

/** Writes extension packages into a temporary folder, for EXTENSIONS_PATH. */
export async function writePackages(all: readonly PackageSketch[]): Promise<WrittenPackages> {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-packages-'));
  for (const { name, manifest = {}, files = {}, text } of all) {
    const packageFolder = join(folder, name.replace(/^.*\//, ''));
    const whole = {
      name,
      version: '1.0.0',
      type: 'module',
      'service:extension': { ...PUBLIC_ENDPOINT_MANIFEST, ...manifest },
    };
    await mkdir(packageFolder, { recursive: true });
    await writeFile(join(packageFolder, 'package.json'), text ?? JSON.stringify(whole));
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(packageFolder, path)), { recursive: true });
      await writeFile(join(packageFolder, path), content);
    }
  }
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
