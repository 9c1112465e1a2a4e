import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { IMAGE, type ImageConfig, type ImageStore } from './image.ts';
import { run } from './shell.ts';

/** A running container of the image, under the rules of compose.yaml. */
export interface TrialContainer {
  /** Runs a command in it, as its user. */
  exec(...command: string[]): { readonly code: number | null; readonly output: string };
  /** Sends the signal of `docker stop`. Resolves with the exit code. */
  stop(): Promise<number | null>;
  /** What it has written so far. */
  output(): string;
  readonly hasEnded: () => boolean;
}

interface ContainerOptions {
  readonly store: ImageStore;
  readonly config: ImageConfig;
  readonly environment: Readonly<Record<string, string>>;
  /** The folder behind the volume of the image. */
  readonly volume: string;
  /** Rules for system calls, in the form of the runtime; none where undefined. */
  readonly seccomp?: object | undefined;
}

/**
 * Runs the image with runc, the runtime below container engines: the root file system read-only, `/tmp` in memory, no capability, no new
 * privileges, the user of the image. The network is that of the machine, where the database is.
 */
export function startContainer(options: ContainerOptions): TrialContainer {
  const { store, config } = options;
  const id = `tenon-trial-${process.pid}-${count++}`;
  const working = store.buildah('from', IMAGE);
  const root = store.buildah('mount', working);
  const bundle = join(store.folder, id);
  mkdirSync(bundle, { recursive: true });
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(renderRuntimeConfig(root, options)));
  const state = ['--root', join(store.folder, 'runc')];
  const child: ChildProcess = spawn('runc', [...state, 'run', '--bundle', bundle, id], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (part: string) => (text += part));
  let isOver = false;
  const ended = once(child, 'close').then(([code]) => {
    isOver = true;
    store.buildah('umount', working);
    store.buildah('rm', working);
    return code as number | null;
  });
  return {
    exec(...command) {
      const { status, stdout, stderr } = spawnSync('runc', [...state, 'exec', id, ...command], { encoding: 'utf8' });
      return { code: status, output: `${stdout}${stderr}`.trim() };
    },
    async stop() {
      run('runc', [...state, 'kill', id, config.StopSignal.replace(/^SIG/, '')]);
      return ended;
    },
    output: () => text,
    hasEnded: () => isOver,
  };
}

let count = 0;

function renderRuntimeConfig(root: string, { config, environment, volume, seccomp }: ContainerOptions): object {
  const [uid, gid] = config.User.split(':').map(Number);
  const mount = (destination: string, type: string, source: string, ...options: string[]) => ({
    destination,
    type,
    source,
    options,
  });
  const [volumePath] = Object.keys(config.Volumes) as [string];
  const none = { bounding: [], effective: [], permitted: [], inheritable: [], ambient: [] };
  return {
    ociVersion: '1.0.2',
    root: { path: root, readonly: true },
    hostname: 'tenon',
    process: {
      terminal: false,
      user: { uid, gid },
      args: [...config.Entrypoint, ...config.Cmd],
      env: [...config.Env, ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)],
      cwd: config.WorkingDir,
      capabilities: none,
      noNewPrivileges: true,
    },
    mounts: [
      mount('/proc', 'proc', 'proc', 'nosuid', 'noexec', 'nodev'),
      mount('/dev', 'tmpfs', 'tmpfs', 'nosuid', 'strictatime', 'mode=755', 'size=65536k'),
      mount('/dev/pts', 'devpts', 'devpts', 'nosuid', 'noexec', 'newinstance', 'ptmxmode=0666', 'mode=0620'),
      mount('/dev/shm', 'tmpfs', 'shm', 'nosuid', 'noexec', 'nodev', 'mode=1777', 'size=65536k'),
      mount('/tmp', 'tmpfs', 'tmpfs', 'nosuid', 'nodev', 'mode=1777', 'size=262144k'),
      mount(volumePath, 'bind', volume, 'rbind', 'rw', 'nosuid', 'nodev'),
      mount('/etc/resolv.conf', 'bind', '/etc/resolv.conf', 'rbind', 'ro'),
      mount('/etc/hosts', 'bind', '/etc/hosts', 'rbind', 'ro'),
    ],
    linux: {
      namespaces: ['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
      maskedPaths: ['/proc/acpi', '/proc/kcore', '/proc/keys', '/proc/timer_list', '/proc/sched_debug', '/proc/scsi'],
      readonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
      ...(seccomp ? { seccomp } : {}),
    },
  };
}
