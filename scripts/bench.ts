/**
 * `npm run bench [-- --seconds 3 --rounds 5 --connections 16]`: the service against a hand-written server that does the
 * ideal statement, on Chinook, in alternating rounds of one run. Prints ratios; absolute numbers depend on the machine.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { freshDatabase, loadSql } from '../test/support/database.ts';
import { startServer } from '../test/support/server.ts';
import { spawnService } from '../test/support/service.ts';
import { cpuOf } from './bench/cpu.ts';
import { load } from './bench/load.ts';
import { SHAPES } from './bench/shapes.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '16' },
  },
});
const seconds = Number(values.seconds);
const connections = Number(values.connections);

interface Round {
  readonly perSecond: number;
  readonly cpuPerRequest: number;
}

const server = await startServer();
process.env.TEST_DATABASE_URL = server.url;
const database = await freshDatabase('bench');
await loadSql(database.url, new URL('../test/data/chinook.sql', import.meta.url));
await database.query('analyze');
// The ideal server writes no log, so neither does the service but for warnings.
const service = await spawnService({ database, env: { LOG_LEVEL: 'warn', ACCESS_TOKEN_TTL: '1d' } });
const ideal = fork(new URL('./bench/ideal.ts', import.meta.url), {
  env: { PATH: process.env.PATH, IDEAL_DATABASE_URL: database.url },
});

try {
  const [port] = (await once(ideal, 'message')) as [number];
  const sides = {
    tenon: { url: service.url, pid: service.pid, application: 'tenon' },
    ideal: { url: `http://127.0.0.1:${port}`, pid: ideal.pid as number, application: 'ideal' },
  };
  const headers = [`Authorization: Bearer ${service.admin.token}`];

  const round = async (side: (typeof sides)['tenon'], path: string, length: number): Promise<Round> => {
    const before = await cpuOf(side.pid, side.application, database);
    const { requests, failed, seconds: took } = await load(side.url + path, headers, connections, length);
    const after = await cpuOf(side.pid, side.application, database);
    if (failed > 0) throw new Error(`${failed} of ${requests} requests for ${path} failed`);
    return { perSecond: requests / took, cpuPerRequest: (after - before) / requests };
  };

  for (const { name, path } of SHAPES) {
    const answers = await Promise.all(
      Object.values(sides).map(async ({ url }) => {
        const response = await fetch(url + path, { headers: { authorization: `Bearer ${service.admin.token}` } });
        return response.text();
      }),
    );
    if (answers[0] !== answers[1])
      throw new Error(`the two servers answer differently to ${name}:\n${answers.join('\n')}`);
  }

  console.log(`${connections} connections, ${values.rounds} rounds of ${seconds} s each, medians`);
  console.log(`${'shape'.padEnd(28)}requests/s    ideal   ratio   CPU ms/request    ideal   ratio`);
  for (const { name, path } of SHAPES) {
    await round(sides.tenon, path, 1);
    await round(sides.ideal, path, 1);
    const tenon: Round[] = [];
    const best: Round[] = [];
    for (let at = 0; at < Number(values.rounds); at++) {
      tenon.push(await round(sides.tenon, path, seconds));
      best.push(await round(sides.ideal, path, seconds));
    }
    const speed = [median(tenon.map((one) => one.perSecond)), median(best.map((one) => one.perSecond))] as const;
    const cpu = [median(tenon.map((one) => one.cpuPerRequest)), median(best.map((one) => one.cpuPerRequest))] as const;
    console.log(
      name.padEnd(28) +
        `${speed[0].toFixed(0).padStart(10)}${speed[1].toFixed(0).padStart(9)}${(speed[0] / speed[1]).toFixed(2).padStart(8)}` +
        `${cpu[0].toFixed(3).padStart(17)}${cpu[1].toFixed(3).padStart(9)}${(cpu[0] / cpu[1]).toFixed(2).padStart(8)}`,
    );
  }
} finally {
  ideal.kill();
  await service.stop();
  await database.drop();
  await server.stop();
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
