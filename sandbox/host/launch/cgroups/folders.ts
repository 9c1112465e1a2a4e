import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isAlive, PID_NAMESPACE } from '../proc.ts';

const PREFIX = 'tenon-';
/** How long what was killed may take to be gone. */
const REMOVAL_TIMEOUT_MS = 3_000;

/** Folders of launchers of this process: two services in one process do not take each other's for leftovers. */
const ownNames = new Set<string>();
let count = 0;

/** A name for the folder of one launcher, which says whose it is. */
export function claimName(): string {
  count += 1;
  const name = `${PREFIX}${process.pid}-${count}-${PID_NAMESPACE}`;
  ownNames.add(name);
  return name;
}

export const releaseName = (name: string): void => void ownNames.delete(name);

export function makeFolder(path: string): void {
  mkdirSync(path, { recursive: true });
}

export const write = (path: string, value: string | number): void => writeFileSync(path, String(value));

export function tryWrite(path: string, value: string | number): boolean {
  try {
    write(path, value);
    return true;
  } catch {
    return false;
  }
}

export function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}

/** A number out of a file of lines such as `oom_kill 2`; 0 where it is not there. */
export const parseCounter = (text: string, name: string): number =>
  Number(text.match(new RegExp(`^${name} (\\d+)$`, 'm'))?.[1] ?? 0);

export const listProcesses = (folder: string): readonly number[] =>
  read(join(folder, 'cgroup.procs')).split('\n').map(Number).filter(Boolean);

/** SIGKILL to what is in the folder. Who starts something meanwhile is met by the next call. */
export function killProcesses(folder: string): void {
  if (tryWrite(join(folder, 'cgroup.kill'), 1)) return;
  for (const pid of listProcesses(folder)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Gone already.
    }
  }
}

/** Kills what is inside and removes the folder once the kernel lets go of it. */
export async function removeFolder(folder: string): Promise<boolean> {
  const deadline = Date.now() + REMOVAL_TIMEOUT_MS;
  for (;;) {
    try {
      rmdirSync(folder);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
      if (Date.now() > deadline) return false;
    }
    killProcesses(folder);
    await wait(5);
  }
}

/** Removes a launcher's folder with the groups in it. */
export async function removeTree(folder: string): Promise<void> {
  await Promise.all(subfolders(folder).map((name) => removeFolder(join(folder, name))));
  await removeFolder(folder);
}

/** Folders that dead services left. */
export async function removeLeftovers(base: string): Promise<void> {
  for (const name of subfolders(base)) {
    const service = Number(name.match(/^tenon-service-(\d+)$/)?.[1]);
    if (service > 0 && !isAlive(service)) removeIfEmpty(join(base, name));
  }
  const left = subfolders(base).filter((name) => {
    const [, service, counted] = name.match(/^tenon-(\d+)-\d+-(\d+)$/) ?? [];
    const pid = Number(service);
    return pid > 0 && counted === PID_NAMESPACE && !ownNames.has(name) && (pid === process.pid || !isAlive(pid));
  });
  await Promise.all(left.map((name) => removeTree(join(base, name))));
}

/** For folders in which services are: never with `removeFolder`, which kills. */
export function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Somebody is still inside, and the next service that starts tries again.
  }
}

function subfolders(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}
