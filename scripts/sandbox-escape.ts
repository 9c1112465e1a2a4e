/**
 * `npm run escape`: runs every hostile program of test/sandbox/escape against a service while another client reads from
 * it, and prints the cost for that client. The exit code is 0 where everything is within bounds. `--flows` runs the programs as
 * scripts of flows (`exec`).
 */

import { parseArgs } from 'node:util';
import { hostilePrograms } from '../test/sandbox/escape/hostile-programs.ts';
import {
  type HostileService,
  SANDBOX_TIMEOUT_MS,
  startHostileService,
} from '../test/sandbox/escape/hostile-service.ts';
import { runHostileProgram } from '../test/sandbox/escape/run-hostile-program.ts';
import { startDatabaseServer } from '../test/support/database-server.ts';

const LATE = 100;
const MiB = 1024 ** 2;
const BOUNDS = { growth: 64 * MiB, ratio: 2, pause: 50 } as const;
const BASELINE_MS = 5000;
/** Milliseconds between two reads of the client that measures latencies. */
const PACE = 10;

const server = await startDatabaseServer();
process.env.TEST_DATABASE_URL = server.url;
let hostile: HostileService | undefined;
try {
  const { values } = parseArgs({ options: { flows: { type: 'boolean', default: false } } });
  const all = hostilePrograms();
  const programs = values.flows ? all.map((one) => ({ ...one, expectation: { kind: 'answered' as const } })) : all;
  console.log(`${programs.length} programs; a run has ${SANDBOX_TIMEOUT_MS} ms`);
  hostile = await startHostileService(programs, values.flows ? 'flows' : 'packages');
  const url = `${hostile.service.url}/items/notes?limit=20`;
  await readsUntil(url, after(1000));
  const baseline = p95(await readsUntil(url, after(BASELINE_MS)));
  await hostile.measure();
  const before = (await hostile.measure()).rss;

  const wrong: string[] = [];
  const counts = { contained: 0, late: 0, escaped: 0 };
  let longest = 0;
  let most = before;
  let isOver = false;
  const bystander = readsUntil(url, () => isOver);
  for (const program of programs) {
    const { problem, durationMs, status } = await runHostileProgram(hostile, program);
    const { longest: pause, rss } = await hostile.measure();
    longest = Math.max(longest, pause);
    most = Math.max(most, rss);
    const isLate = durationMs > SANDBOX_TIMEOUT_MS + LATE;
    if (problem) counts.escaped++;
    else counts.contained++;
    if (isLate) counts.late++;
    if (problem || isLate || pause > BOUNDS.pause) {
      wrong.push(
        `${program.id}: ${problem ?? `answered after ${durationMs.toFixed(0)} ms, pause ${pause.toFixed(0)} ms`}`,
      );
    }
    console.log(
      `${program.id.padEnd(28)} ${status} ${durationMs.toFixed(0).padStart(6)} ms   pause ${pause.toFixed(0).padStart(3)} ms`,
    );
  }
  isOver = true;
  const underLoad = p95(await bystander);
  const growth = most - before;
  for (const line of wrong) console.log(`! ${line}`);
  console.log(`${counts.contained} contained, ${counts.escaped} not, ${counts.late} later than deadline + ${LATE} ms`);
  console.log(
    `a plain read, p95: ${baseline.toFixed(1)} ms baseline, ${underLoad.toFixed(1)} ms under load, ratio ${(underLoad / baseline).toFixed(2)}`,
  );
  console.log(
    `memory of the service: ${(before / MiB).toFixed(0)} MiB before, grown by ${(growth / MiB).toFixed(0)} MiB at most`,
  );
  console.log(`longest pause of its event loop: ${longest.toFixed(0)} ms`);
  const isGood =
    counts.escaped === 0 &&
    counts.late === 0 &&
    growth <= BOUNDS.growth &&
    underLoad <= BOUNDS.ratio * baseline &&
    longest <= BOUNDS.pause;
  console.log(isGood ? 'within bounds' : 'OUT OF BOUNDS');
  process.exitCode = isGood ? 0 : 1;
} finally {
  await hostile?.stop();
  await server.stop();
}

/** Latencies of one reader, in milliseconds. */
async function readsUntil(url: string, isOver: () => boolean): Promise<number[]> {
  const took: number[] = [];
  while (!isOver()) {
    const started = performance.now();
    await (await fetch(url)).text();
    took.push(performance.now() - started);
    await new Promise((resolve) => setTimeout(resolve, PACE));
  }
  return took;
}

function after(ms: number): () => boolean {
  const end = performance.now() + ms;
  return () => performance.now() > end;
}

function p95(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.95)] ?? 0;
}
