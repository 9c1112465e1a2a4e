/**
 * `npm run bench:retention [-- --rows 5000000 --rounds 5 --seconds 10 --connections 4 --complete]`: response times of reads while the
 * service deletes old history, beside those of the same service without retention, in alternating rounds. Fails where the 95th percentile
 * grows by more than 20 percent, where a recent row is deleted, or where a batch is larger than RETENTION_BATCH. With `--complete` it goes on
 * without load until all old rows are gone.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type FreshDatabase, freshDatabase } from '../test/support/database.ts';
import { startDatabaseServer } from '../test/support/database-server.ts';
import { type SpawnedService, spawnService } from '../test/support/service.ts';
import { until } from '../test/support/until.ts';
import { buildRequestBytes } from './bench/http-load-generator.ts';
import { measureLatencies, percentile } from './bench/latencies.ts';
import { median } from './bench/load-figures.ts';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '5000000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '10' },
    connections: { type: 'string', default: '4' },
    complete: { type: 'boolean', default: false },
  },
});
const rows = Number(values.rows);
const [rounds, seconds, connections] = [values.rounds, values.seconds, values.connections].map(Number) as [
  number,
  number,
  number,
];
const NOTES = 10_000;
/** The 95th percentile with retention may be this many times as long as without. */
const LIMIT = 1.2;
/** Milliseconds between an answer and the next request of a connection: a service that is busy, and not full. */
const GAP = 5;

const server = await startDatabaseServer();
process.env.TEST_DATABASE_URL = server.url;
const database = await freshDatabase('bench_retention');
let service: SpawnedService | undefined;
try {
  service = await spawnService({ database, args: ['up'] });
  await service.stop();
  await fill(database);
  const recent = await countRows('timestamp > now() - interval $$80 days$$');
  const p95 = { off: [] as number[], on: [] as number[] };
  let deleted = 0;
  let deleting = 0;
  for (let round = 0; round < rounds; round++)
    for (const mode of ['off', 'on'] as const) {
      service = await spawnService({ database, env: retention(mode === 'on') });
      const first = await firstRevision();
      if (mode === 'on') await until(async () => (await firstRevision()) !== first, 60_000);
      const [counted, begin] = [await countOld(), performance.now()];
      const { times, failed } = await measureLatencies(new URL(service.url), requestsOf(service), {
        ...{ connections, seconds, gap: GAP },
      });
      const [left, took] = [await countOld(), (performance.now() - begin) / 1000];
      if (mode === 'on') {
        deleted += counted - left;
        deleting += took;
        if (left === 0) throw new Error('all rows were deleted before the reads had ended: use more --rows');
      }
      await service.stop();
      if (failed > 0) throw new Error(`${failed} of ${times.length} reads failed`);
      p95[mode].push(percentile(times, 0.95));
      const figures = [0.5, 0.95, 0.99].map((share) => `${percentile(times, share).toFixed(2)} ms`).join(', ');
      console.log(`round ${round + 1}, retention ${mode.padEnd(3)}: ${times.length} reads, p50 p95 p99 ${figures}`);
    }
  const ratio = median(p95.on) / median(p95.off);
  console.log(
    `median p95: ${median(p95.off).toFixed(2)} ms without, ${median(p95.on).toFixed(2)} ms with retention: ${ratio.toFixed(3)} (limit ${LIMIT})`,
  );
  console.log(`${deleted} rows of activity and revisions deleted in ${deleting.toFixed(0)} s under reads`);
  if (values.complete) await complete();
  const kept = await countRows('timestamp > now() - interval $$80 days$$');
  console.log(`recent rows: ${recent} before, ${kept} after`);
  if (ratio > LIMIT || kept < recent) process.exitCode = 1;
} finally {
  await service?.stop();
  await database.drop();
  await server.stop();
}

/** Nine of ten rows of activity are old, and each second row has a revision. */
async function fill(target: FreshDatabase): Promise<void> {
  const begin = performance.now();
  await target.query('create table note (id serial primary key, text text)');
  await target.query(`insert into note (text) select 'note ' || n from generate_series(1, ${NOTES}) n`);
  await target.query(
    `insert into platform_activity (action, collection, item, timestamp, ip, user_agent)
    select case n % 2 when 0 then 'update' else 'login' end, 'note', (n % ${NOTES})::text,
      now() - case when n <= $1::int8 * 0.9 then interval '100 days' + ($1 - n) * interval '1 second' else ($1 - n) * interval '1 ms' end,
      '192.0.2.1', 'a program' from generate_series(1, $1::int8) n`,
    [rows],
  );
  await target.query(
    `insert into platform_revisions (activity, collection, item, data, delta)
    select id, collection, item, json_build_object('id', item, 'text', 'a text of some length for note ' || item), '{}' from platform_activity where action = 'update'`,
  );
  await target.query('vacuum analyze');
  console.log(
    `${rows} rows of activity and half as many revisions in ${((performance.now() - begin) / 1000).toFixed(0)} s`,
  );
}

/** Each second a tick, so that a round does not wait for the time of the day. */
function retention(isEnabled: boolean): Record<string, string> {
  return { RETENTION_ENABLED: String(isEnabled), RETENTION_SCHEDULE: '* * * * * *' };
}

/** Reads of one row, of a list, and of the youngest activity. */
function requestsOf({ url, admin }: SpawnedService): () => Buffer {
  let count = 0;
  return () => {
    count++;
    const id = ((count * 7919) % NOTES) + 1;
    const path = [`/items/note/${id}`, `/items/note?limit=25&page=${(count % 100) + 1}`, `/activity?limit=10&sort=-id`];
    return buildRequestBytes(new URL(url), [`Authorization: Bearer ${admin.token}`], {
      method: 'GET',
      path: path[count % path.length] as string,
    });
  };
}

async function countRows(condition: string): Promise<number> {
  const [row] = await database.query<{ count: string }>(
    `select count(*) as count from platform_activity where ${condition}`,
  );
  return Number(row?.count);
}

async function countOld(): Promise<number> {
  const [row] = await database.query<{ count: string }>(
    `select count(*) + (select count(*) from platform_revisions r where exists
      (select from platform_activity a where a.id = r.activity and a.timestamp < now() - interval '90 days')) as count
    from platform_activity where timestamp < now() - interval '90 days'`,
  );
  return Number(row?.count);
}

async function firstRevision(): Promise<string | undefined> {
  return (await database.query<{ id: string }>('select min(id)::text as id from platform_revisions'))[0]?.id;
}

/** Lets the retention delete all old rows, without other requests. */
async function complete(): Promise<void> {
  const begin = performance.now();
  const before = await countOld();
  service = await spawnService({ database, env: { ...retention(true), LOG_LEVEL: 'info' } });
  while ((await countOld()) > 0) await pause(5000);
  const took = (performance.now() - begin) / 1000;
  console.log(`${before - (await countOld())} further rows deleted in ${took.toFixed(0)} s without other requests`);
  await service.stop();
}
