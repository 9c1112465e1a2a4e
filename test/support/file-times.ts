import { appendFileSync, readFileSync } from 'node:fs';
import type { RootHookObject, Suite } from 'mocha';

/** Environment variable with the file for the times of test files. This module is preloaded where `npm test -- --times` asks for them. */
export const TIMES_FILE_VARIABLE = 'TENON_TEST_TIMES';

/** What one test file took in its process. Child processes count only once they have ended. */
interface FileTime {
  readonly file: string;
  /** Seconds from the end of the file before it, so loading of its modules is included. */
  readonly seconds: number;
  /** Seconds of processor time of this process. */
  readonly cpu: number;
}

const path = process.env[TIMES_FILE_VARIABLE];
let since = performance.now();
let used = process.cpuUsage();

/** Mocha runs these around each file of a parallel run. */
export const mochaHooks: RootHookObject = path
  ? {
      afterAll(this: { readonly test?: { readonly parent?: Suite } }) {
        const { user, system } = process.cpuUsage(used);
        const file = this.test?.parent?.suites[0]?.file ?? '';
        const line: FileTime = { file, seconds: (performance.now() - since) / 1000, cpu: (user + system) / 1e6 };
        appendFileSync(path, `${JSON.stringify(line)}\n`);
        since = performance.now();
        used = process.cpuUsage();
      },
    }
  : {};

/** One line a file, the longest first. */
export function renderFileTimes(times: string, root: string): string {
  const all = readFileSync(times, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): FileTime => JSON.parse(line))
    .sort((a, b) => b.seconds - a.seconds);
  const sum = (of: 'seconds' | 'cpu') => all.reduce((total, one) => total + one[of], 0).toFixed(0);
  const lines = all.map(
    ({ file, seconds, cpu }) =>
      `${seconds.toFixed(1).padStart(8)} s ${cpu.toFixed(1).padStart(8)} s CPU  ${file.replace(root, '')}`,
  );
  return [
    ...lines,
    `${sum('seconds').padStart(6)}   s ${sum('cpu').padStart(6)}   s CPU  all ${all.length} files`,
  ].join('\n');
}
