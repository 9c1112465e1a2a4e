import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isProcessAlive, OWN_PID_NAMESPACE_ID } from '../proc.ts';

const PREFIX = 'tenon-';
/** How long killed processes may take to disappear before a folder is given up. */
const REMOVAL_TIMEOUT_MS = 3_000;

/**
 * Names of the cgroup folders of launchers in this process, so that two services in one process do not remove the
 * folders of each other.
 */
const ownNames = new Set<string>();
let count = 0;

/** Reserves the name of a cgroup folder for one launcher: process id, number and process namespace of the owner. */
export function claimCgroupFolderName(): string {
  count += 1;
  const name = `${PREFIX}${process.pid}-${count}-${OWN_PID_NAMESPACE_ID}`;
  ownNames.add(name);
  return name;
}

export const releaseCgroupFolderName = (name: string): void => void ownNames.delete(name);

export function makeFolder(path: string): void {
  mkdirSync(path, { recursive: true });
}

export const writeCgroupControlFile = (path: string, value: string | number): void =>
  writeFileSync(path, String(value));

export function tryWriteCgroupControlFile(path: string, value: string | number): boolean {
  try {
    writeCgroupControlFile(path, value);
    return true;
  } catch {
    return false;
  }
}

export function readCgroupControlFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}

/** The number of a line such as `oom_kill 2`; 0 where there is no such line. */
export const parseCgroupCounter = (text: string, name: string): number =>
  Number(text.match(new RegExp(`^${name} (\\d+)$`, 'm'))?.[1] ?? 0);

export const listCgroupProcessIds = (folder: string): readonly number[] =>
  readCgroupControlFile(join(folder, 'cgroup.procs')).split('\n').map(Number).filter(Boolean);

/** Sends SIGKILL to all processes of a control group. The next call kills processes that were started meanwhile. */
export function killCgroupProcesses(folder: string): void {
  if (tryWriteCgroupControlFile(join(folder, 'cgroup.kill'), 1)) return;
  for (const pid of listCgroupProcessIds(folder)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has already ended.
    }
  }
}

/** Kills the processes of a control group and removes its folder. False after `REMOVAL_TIMEOUT_MS`. */
export async function killAndRemoveCgroup(folder: string): Promise<boolean> {
  const deadline = Date.now() + REMOVAL_TIMEOUT_MS;
  for (;;) {
    try {
      rmdirSync(folder);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
      if (Date.now() > deadline) return false;
    }
    killCgroupProcesses(folder);
    await wait(5);
  }
}

/** Removes the cgroup folder of a launcher with the groups in it, and kills their processes. */
export async function removeLauncherCgroup(folder: string): Promise<void> {
  await Promise.all(subfolders(folder).map((name) => killAndRemoveCgroup(join(folder, name))));
  await killAndRemoveCgroup(folder);
}

/** Removes cgroup folders that services which have ended left behind. */
export async function removeLeftoverCgroups(base: string): Promise<void> {
  for (const name of subfolders(base)) {
    const service = Number(name.match(/^tenon-service-(\d+)$/)?.[1]);
    if (service > 0 && !isProcessAlive(service)) removeCgroupFolderIfEmpty(join(base, name));
  }
  const left = subfolders(base).filter((name) => {
    const [, service, counted] = name.match(/^tenon-(\d+)-\d+-(\d+)$/) ?? [];
    const pid = Number(service);
    return (
      pid > 0 &&
      counted === OWN_PID_NAMESPACE_ID &&
      !ownNames.has(name) &&
      (pid === process.pid || !isProcessAlive(pid))
    );
  });
  await Promise.all(left.map((name) => removeLauncherCgroup(join(base, name))));
}

/**
 * Removes a cgroup folder unless a process is in it. For folders that may hold a running service, which `killAndRemoveCgroup`
 * would kill.
 */
export function removeCgroupFolderIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // A process is still inside. The next service that starts tries again.
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
