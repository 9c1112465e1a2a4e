import { setTimeout as pause } from 'node:timers/promises';
import type { FreshDatabase } from '../../test/support/database.ts';
import type { BenchScenario } from './bench-scenarios.ts';
import type { BenchServer } from './compared-servers.ts';
import { buildRequestBytes, runLoad } from './http-load-generator.ts';
import { findServerProcesses, readProcessMemory } from './process-cpu-memory.ts';

const SAMPLE_MS = 20;
/** Milliseconds after a read in which freed memory may be returned to the operating system. */
const CALM_MS = 3000;

/** Resident bytes of the server, and bytes of its largest backend without the cache that all backends share. */
interface Memory {
  readonly server: number;
  readonly backend: number;
}

const LARGE_READS: readonly { readonly name: string; readonly path: string; readonly connections: number }[] = [
  { name: '10,000 rows, once', path: '/items/article?limit=10000', connections: 1 },
  { name: '10,000 rows, four at a time', path: '/items/article?limit=10000', connections: 4 },
  { name: 'all rows, once', path: '/items/article?limit=-1', connections: 1 },
  { name: 'all rows as CSV, once', path: '/items/article?limit=-1&export=csv', connections: 1 },
];
const FIELDS = '&fields=id,title,body,status,author_id,published_at,views,price,meta';

/** Measures the memory of large reads: before, at the peak, and some seconds after. Yields one line per read. */
export async function* reportLargeReadMemory(
  side: BenchServer,
  shape: BenchScenario,
  database: FreshDatabase,
): AsyncGenerator<string> {
  yield `${'memory, MB'.padEnd(30)}server before    peak   after   busiest backend before    peak   after`;
  for (const { name, path, connections } of LARGE_READS) {
    const before = await memory(side, database);
    const request = buildRequestBytes(side.url, side.headers(shape), { method: 'GET', path: path + FIELDS });
    const { peak, failed } = await peakDuring(side, database, () => runLoad(side.url, () => request, connections, 0));
    await pause(CALM_MS);
    const after = await memory(side, database);
    if (failed > 0) yield `${name.padEnd(30)}was refused`;
    else {
      const row = [before.server, peak.server, after.server, before.backend, peak.backend, after.backend];
      yield name.padEnd(30) +
        row.map((bytes, at) => megabytes(bytes).padStart([13, 8, 8, 25, 8, 8][at] as number)).join('');
    }
  }
}

async function memory(side: BenchServer, database: FreshDatabase): Promise<Memory> {
  return held(await findServerProcesses(side.pid, side.application, database));
}

const held = ({ server, backends }: { server: number; backends: readonly number[] }): Memory => ({
  server: readProcessMemory(server).resident,
  backend: Math.max(0, ...backends.map((pid) => readProcessMemory(pid).own)),
});

async function peakDuring(
  side: BenchServer,
  database: FreshDatabase,
  work: () => Promise<{ readonly failed: number }>,
) {
  const peak = { server: 0, backend: 0 };
  // Database connections open when they are needed, so the list of backends is refreshed now and then.
  let processes = await findServerProcesses(side.pid, side.application, database);
  let samples = 0;
  const timer = setInterval(() => {
    const now = held(processes);
    peak.server = Math.max(peak.server, now.server);
    peak.backend = Math.max(peak.backend, now.backend);
    if (samples++ % 10 === 0)
      findServerProcesses(side.pid, side.application, database).then(
        (found) => {
          processes = found;
        },
        () => {},
      );
  }, SAMPLE_MS);
  try {
    const { failed } = await work();
    return { peak, failed };
  } finally {
    clearInterval(timer);
  }
}

const megabytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);
