import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run, timed } from './shell.ts';

/** Images and containers of the trial, apart from those of the machine. */
export interface ImageStore {
  readonly folder: string;
  buildah(...args: string[]): string;
}

/** What a Dockerfile says about the processes of its image. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Volumes: Readonly<Record<string, unknown>>;
  readonly StopSignal: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

export const BASE_IMAGE = 'localhost/tenon-base:trial';
export const IMAGE = 'localhost/tenon:trial';

export function openImageStore(folder: string): ImageStore {
  const where = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--storage-driver', 'overlay'];
  return { folder, buildah: (...args) => run('buildah', [...where, ...args]) };
}

/**
 * Makes an image that stands for the base image of the Dockerfile, where no registry of images is reached: Debian from its packages,
 * with the Node and the npm of this machine. It has the client programs of PostgreSQL in the version of that Debian, too.
 */
export async function makeBaseImage(store: ImageStore, release: string): Promise<void> {
  const root = join(store.folder, `debian-${release}`);
  if (!existsSync(join(root, 'etc/debian_version')))
    await timed(`debootstrap ${release}`, () => {
      rmSync(root, { recursive: true, force: true });
      run('debootstrap', ['--variant=minbase', '--include=postgresql-client', release, root]);
      rmSync(join(root, 'var/cache/apt/archives'), { recursive: true, force: true });
      mkdirSync(join(root, 'var/cache/apt/archives/partial'), { recursive: true });
    });
  addNode(root);
  await timed('base image', () => {
    const container = store.buildah('from', 'scratch');
    store.buildah('add', '--quiet', container, root, '/');
    store.buildah('commit', '--quiet', '--rm', container, BASE_IMAGE);
  });
}

/** Copies Node and npm as the images of Node have them, and lets npm use the registry that npm uses on this machine. */
function addNode(root: string): void {
  const local = join(root, 'usr/local');
  const npm = dirname(dirname(run('sh', ['-c', 'readlink -f "$(command -v npm)"'])));
  rmSync(join(local, 'lib/node_modules/npm'), { recursive: true, force: true });
  for (const folder of ['bin', 'etc', 'lib/node_modules']) mkdirSync(join(local, folder), { recursive: true });
  cpSync(process.execPath, join(local, 'bin/node'));
  cpSync(npm, join(local, 'lib/node_modules/npm'), { recursive: true });
  for (const name of ['npm', 'npx']) {
    rmSync(join(local, 'bin', name), { force: true });
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name));
  }
  const lines = [`registry=${run('npm', ['config', 'get', 'registry'])}`];
  const certificates = process.env.NODE_EXTRA_CA_CERTS;
  if (certificates) {
    cpSync(certificates, join(local, 'etc/certificates.pem'));
    lines.push('cafile=/usr/local/etc/certificates.pem');
  }
  writeFileSync(join(local, 'etc/npmrc'), `${lines.join('\n')}\n`);
}

/** Builds the Dockerfile of a checkout, in chroots: no engine, and no namespaces of a user. */
export async function buildImage(store: ImageStore, checkout: string): Promise<void> {
  await timed('image', () =>
    store.buildah(
      ...['build', '--isolation', 'chroot', '--format', 'docker', '--no-cache', '--build-arg', `BASE=${BASE_IMAGE}`],
      ...['--build-arg', `POSTGRES=${BASE_IMAGE}`, '--tag', IMAGE, checkout],
    ),
  );
}

export const readImageConfig = (store: ImageStore): ImageConfig =>
  JSON.parse(store.buildah('inspect', '--type', 'image', IMAGE)).Docker.config;

/** Size of an image as `docker images` shows it. */
export const imageSize = (store: ImageStore, name: string): string =>
  store.buildah('images', '--format', '{{.Size}}', name);
