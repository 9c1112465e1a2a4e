import { readdirSync, readFileSync } from 'node:fs';

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};
export const parentOf = (pid: number): number => Number(/^PPid:\s+(\d+)/m.exec(textOf(`/proc/${pid}/status`))?.[1]);
export const isAlive = (pid: number): boolean => /^State:\s+[^ZX]/m.test(textOf(`/proc/${pid}/status`));

/** Processes that look into files, started by this one; none where there is no /proc. */
export const children = (parent = process.pid): readonly number[] =>
  names('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && parentOf(pid) === parent && isAlive(pid))
    .filter((pid) => textOf(`/proc/${pid}/cmdline`).includes('media/child/entry.ts'));

/** Milliseconds of CPU that these have used so far: what is not worked on costs none, however busy the machine is. */
export const childrenTime = (): number =>
  children().reduce((sum, pid) => {
    const [, text = ''] = textOf(`/proc/${pid}/stat`).split(') ');
    const fields = text.split(' ');
    // In hundredths of a second; the 14th and 15th field of all.
    return sum + 10 * (Number(fields[11] ?? 0) + Number(fields[12] ?? 0));
  }, 0);

function names(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
