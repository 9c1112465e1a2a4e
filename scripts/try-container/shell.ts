import { execFileSync, spawnSync } from 'node:child_process';

/** Runs a program to its end. Answers what it printed. @throws Error with the end of its output, for another exit code than 0. */
export function run(command: string, args: readonly string[]): string {
  const result = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (result.error) throw result.error;
  if (result.status === 0) return result.stdout.trim();
  const output = `${result.stdout}\n${result.stderr}`.trim().split('\n').slice(-30).join('\n');
  throw new Error(`${[command, ...args].join(' ')} ended with ${result.status ?? result.signal}:\n${output}`);
}

/** @throws Error that names what is missing */
export function assertInstalled(programs: readonly string[]): void {
  const missing = programs.filter((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0);
  if (missing.length > 0)
    throw new Error(`missing: ${missing.join(', ')}. On Debian: apt-get install ${missing.join(' ')}`);
}

/** Bytes of a folder on disk, in MB. */
export const megabytesOf = (folder: string): number =>
  Math.round(Number(execFileSync('du', ['-sk', folder], { encoding: 'utf8' }).split('\t')[0]) / 1024);

/** Runs a step and prints its seconds. */
export async function timed<T>(what: string, work: () => Promise<T> | T): Promise<T> {
  const started = performance.now();
  const result = await work();
  console.log(`${((performance.now() - started) / 1000).toFixed(1).padStart(7)} s  ${what}`);
  return result;
}
