import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { RootHookObject, Suite } from 'mocha';

/** Environment variable with the file for the times of test files. This module is preloaded where `npm test -- --times` asks for them. */
export const TIMES_FILE_VARIABLE = 'TENON_TEST_TIMES';

/** What one test file took. */
interface FileTime {
  readonly file: string;
  /** Seconds from the end of the file before it, so loading of its modules is included. */
  readonly seconds: number;
  /** Seconds of processor time of its process. */
  readonly cpu: number;
  /** The same of child processes, once they have ended; 0 where there is no /proc. */
  readonly children: number;
}

/** Clock ticks of the kernel a second. */
const TICKS = 100;

const path = process.env[TIMES_FILE_VARIABLE];
let since = performance.now();
let used = process.cpuUsage();
let usedByChildren = secondsOfChildren();

/** Processor time of all child processes that have ended: fields 16 and 17 of /proc/self/stat, counted behind the name in brackets. */
function secondsOfChildren(): number {
  if (!existsSync('/proc/self/stat')) return 0;
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) / TICKS;
}

/** Mocha runs these around each file of a parallel run. */
export const mochaHooks: RootHookObject = path
  ? {
      afterAll(this: { readonly test?: { readonly parent?: Suite } }) {
        const { user, system } = process.cpuUsage(used);
        const file = this.test?.parent?.suites[0]?.file ?? '';
        const [seconds, children] = [(performance.now() - since) / 1000, secondsOfChildren() - usedByChildren];
        const line: FileTime = { file, seconds, cpu: (user + system) / 1e6, children };
        appendFileSync(path, `${JSON.stringify(line)}\n`);
        since = performance.now();
        used = process.cpuUsage();
        usedByChildren = secondsOfChildren();
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
  const sum = (of: 'seconds' | 'cpu' | 'children') => all.reduce((total, one) => total + one[of], 0).toFixed(0);
  const lines = all.map(
    ({ file, seconds, cpu, children }) =>
      `${seconds.toFixed(1).padStart(8)} s ${cpu.toFixed(1).padStart(8)} +${children.toFixed(1).padStart(6)} s CPU  ${file.replace(root, '')}`,
  );
  return [
    ...lines,
    `${sum('seconds').padStart(6)}   s ${sum('cpu').padStart(6)}   +${sum('children').padStart(4)}   s CPU  all ${all.length} files`,
  ].join('\n');
}
