import { readdirSync, readFileSync } from 'node:fs';

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};
export const parentProcessIdOf = (pid: number): number =>
  Number(/^PPid:\s+(\d+)/m.exec(textOf(`/proc/${pid}/status`))?.[1]);
export const isRunningProcess = (pid: number): boolean => /^State:\s+[^ZX]/m.test(textOf(`/proc/${pid}/status`));

/** Process ids of the running media workers that this process started; empty on systems without /proc. */
export const findMediaWorkers = (parent = process.pid): readonly number[] =>
  names('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && parentProcessIdOf(pid) === parent && isRunningProcess(pid))
    .filter((pid) => textOf(`/proc/${pid}/cmdline`).includes('media/child/entry.ts'));

/** Milliseconds of CPU that the running media workers have used so far. */
export const mediaWorkersCpuTime = (): number =>
  findMediaWorkers().reduce((sum, pid) => {
    const [, text = ''] = textOf(`/proc/${pid}/stat`).split(') ');
    const fields = text.split(' ');
    // `utime` and `stime`, fields 14 and 15 of /proc/<pid>/stat, in hundredths of a second.
    return sum + 10 * (Number(fields[11] ?? 0) + Number(fields[12] ?? 0));
  }, 0);

function names(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
