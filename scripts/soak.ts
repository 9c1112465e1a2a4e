/**
 * `npm run soak [-- --seconds 60 --connections 24 --scale 0.1 --seed 1]`: everything at once at full speed: reads of all kinds,
 * writes, batches, callers without permission, clients that disconnect. Fails on an answer that is not the expected one, on
 * memory that grows by more than 15 % once warm, on a statement over its limit, and on a service that does not answer afterwards.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freshDatabase } from '../test/support/database.ts';
import { startDatabaseServer } from '../test/support/database-server.ts';
import { createSeededRandom } from '../test/support/random.ts';
import { spawnService } from '../test/support/service.ts';
import { createBenchAliasesAndEditor } from './bench/collection-setup.ts';
import { loadBenchData, scaledRowCount } from './bench/data.ts';
import { createSoakActionChooser, listSoakActions, type SoakAction } from './soak/actions.ts';
import { createSoakClient } from './soak/client.ts';
import { computeMemoryGrowthPercent, computeMemorySlope, watchServiceResources } from './soak/watch.ts';

const MAX_GROWTH_PERCENT = 15;
const STATEMENT_LIMIT_MS = 10_000;
/** Milliseconds until PostgreSQL has cancelled a statement, and until the next check. */
const GRACE_MS = 500;
const SHOW_EVERY_MS = 5000;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    connections: { type: 'string', default: '24' },
    scale: { type: 'string', default: '0.1' },
    seed: { type: 'string', default: '1' },
  },
});
const seconds = Number(values.seconds);
const scale = Number(values.scale);

const server = await startDatabaseServer();
process.env.TEST_DATABASE_URL = server.url;
const database = await freshDatabase('soak');
try {
  await loadBenchData(database, scale);
  const service = await spawnService({
    database,
    env: {
      LOG_LEVEL: 'error',
      ACCESS_TOKEN_TTL: '1d',
      DB_STATEMENT_TIMEOUT: `${STATEMENT_LIMIT_MS}ms`,
      MAX_PAYLOAD_SIZE: '10mb',
    },
  });
  try {
    const tokens = { admin: service.admin.token, editor: await createBenchAliasesAndEditor(service) };
    const client = createSoakClient(new URL(service.url), tokens, Number(values.connections));
    const watching = watchServiceResources(service.pid, 'tenon', database);
    const choose = createSoakActionChooser(listSoakActions(scale, scaledRowCount('draft', scale)));
    const endings = new Map<string, number>();
    const failures = new Map<string, { count: number; example: string }>();
    const until = Date.now() + seconds * 1000;
    let requests = 0;

    const failed = (action: SoakAction, what: string, example: string) => {
      const name = `${action.name}: ${what}`;
      failures.set(name, { count: (failures.get(name)?.count ?? 0) + 1, example });
    };
    const worker = async (seed: number) => {
      const random = createSeededRandom(seed);
      while (Date.now() < until) {
        const action = choose(random);
        const n = ++requests;
        try {
          const { status, text } = await client.send(action, n, random);
          const name = status === 0 ? 'aborted' : String(status);
          endings.set(name, (endings.get(name) ?? 0) + 1);
          if (text !== undefined) failed(action, `answered ${status}`, text);
        } catch (error) {
          failed(action, 'no answer', String(error));
          await pause(50);
        }
      }
    };
    const show = setInterval(() => {
      const last = watching.samples.at(-1);
      console.log(
        `${(last?.at ?? 0).toFixed(0).padStart(5)} s${String(requests).padStart(10)} requests${(last?.megabytes ?? 0).toFixed(0).padStart(7)} MB`,
      );
    }, SHOW_EVERY_MS);
    await Promise.all(Array.from({ length: Number(values.connections) }, (_, at) => worker(Number(values.seed) + at)));
    clearInterval(show);
    watching.stop();
    client.close();

    const pong = await service.request('GET', '/items/article/1', { token: service.admin.token });
    const grown = computeMemoryGrowthPercent(watching.samples);
    const slowest = watching.slowest();
    const log = service
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    const statuses = [...endings].sort().map(([status, count]) => `${status} × ${count}`);
    console.log(`requests        ${requests} in ${seconds} s: ${statuses.join(', ')}`);
    console.log(
      `memory          ${grown.toFixed(1)} % growth once warm, ${computeMemorySlope(watching.samples).toFixed(1)} MB a minute`,
    );
    console.log(
      `slowest seen    ${slowest.ms.toFixed(0)} ms, ${slowest.waiting ? `waiting for ${slowest.waiting}` : 'at work'}: ${slowest.text.replaceAll(/\s+/g, ' ')}`,
    );
    console.log(`errors logged   ${log.length}${log.length > 0 ? `, the first: ${log[0]?.slice(0, 600)}` : ''}`);
    for (const [name, { count, example }] of failures) console.log(`FAILED ${count} × ${name}: ${example}`);

    const verdicts = {
      'answers other than expected': failures.size > 0,
      [`memory grew by more than ${MAX_GROWTH_PERCENT} %`]: grown > MAX_GROWTH_PERCENT,
      'a statement ran over its limit': slowest.ms > STATEMENT_LIMIT_MS + GRACE_MS,
      'the service does not serve on': pong.status !== 200,
    };
    const wrong = Object.keys(verdicts).filter((what) => verdicts[what as keyof typeof verdicts]);
    console.log(wrong.length === 0 ? 'passed' : `FAILED: ${wrong.join('; ')}`);
    process.exitCode = wrong.length === 0 ? 0 : 1;
  } finally {
    await service.stop();
  }
} finally {
  await database.drop();
  await server.stop();
}
