/**
 * `npm run faults:realtime [-- --seconds 120 --clients 40 --writes 200]`: two processes on one database, clients that keep a copy of a
 * collection by their subscriptions, and a writer that uses SQL. Meanwhile processes are killed, PostgreSQL is restarted, its connections
 * are cut and clients lose their networks. Clients reconnect to any process with the position of their last message. Fails where a copy
 * differs from the table at the end: a change was lost and the client was not sent to read again.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { type FreshDatabase, freshDatabase } from '../test/support/database.ts';
import { findFreePort } from '../test/support/free-port.ts';
import { type SpawnedService, spawnService } from '../test/support/service.ts';
import { until } from '../test/support/until.ts';
import { startRestartablePostgres } from './faults/restartable-postgres.ts';
import { FollowingClient } from './realtime-faults/following-client.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '120' },
    clients: { type: 'string', default: '40' },
    writes: { type: 'string', default: '200' },
  },
});
const seconds = Number(values.seconds);
const ROWS = 300;
/** Milliseconds between two faults. */
const BETWEEN_FAULTS = 4000;

const server = await startRestartablePostgres();
process.env.TEST_DATABASE_URL = server.url;
const database = await freshDatabase('realtime_faults');
const ports = [await findFreePort(), await findFreePort()];
const services: (SpawnedService | undefined)[] = [undefined, undefined];
let token = '';
let isWriting = true;
let written = 0;

const start = async (at: number): Promise<SpawnedService> => {
  const service = await spawnService({
    database,
    env: {
      ...{ WEBSOCKETS_ENABLED: 'true', WEBSOCKETS_REST_AUTH: 'strict', ACCESS_TOKEN_TTL: '1d', LOG_LEVEL: 'fatal' },
      PORT: String(ports[at]),
    },
  });
  services[at] = service;
  return service;
};

/** Changes random rows, so many in a second, and goes on after each failure. */
async function writeOn(target: FreshDatabase, perSecond: number): Promise<void> {
  let client: pg.Client | undefined;
  let due = performance.now();
  for (let n = 1; isWriting; n++) {
    try {
      if (!client) {
        client = new pg.Client({ connectionString: target.url });
        client.on('error', () => {});
        await client.connect();
      }
      const id = 1 + Math.floor(Math.random() * ROWS);
      if (Math.random() < 0.1) await client.query('delete from thing where id = $1', [id]);
      else
        await client.query('insert into thing values ($1, $2) on conflict (id) do update set n = excluded.n', [id, n]);
      written++;
      due = Math.max(due + 1000 / perSecond, performance.now() - 1000);
      await pause(Math.max(0, due - performance.now()));
    } catch {
      await client?.end().catch(() => {});
      client = undefined;
      await pause(100);
    }
  }
  await client?.end();
}

const faults: Readonly<Record<string, () => Promise<void>>> = {
  'process killed': async () => {
    const at = Math.random() < 0.5 ? 0 : 1;
    await services[at]?.kill('SIGKILL');
    services[at] = undefined;
    await pause(500);
    await start(at);
  },
  'PostgreSQL restarted': () => server.restart('in order'),
  'PostgreSQL killed': () => server.restart('as after a loss of power'),
  'connections of the database cut': async () => {
    await query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
  },
  'clients disconnected': async () => {
    for (const client of clients) if (Math.random() < 0.5) client.disconnect();
  },
};

/** Runs a statement as soon as PostgreSQL answers. */
const query = <Row>(text: string): Promise<Row[]> => until(() => database.query<Row>(text).catch(() => undefined));

await database.query('create table thing (id int primary key, n int)');
const first = await start(0);
await start(1);
token = first.admin.token;
const clients = Array.from(
  { length: Number(values.clients) },
  () =>
    new FollowingClient(() =>
      services.flatMap((one) => (one ? `${one.url.replace('http', 'ws')}/websocket?access_token=${token}` : [])),
    ),
);
await until(() => clients.every(({ counts }) => counts.connections > 0));
const writing = writeOn(database, Number(values.writes));
const names = Object.keys(faults);
const happened = new Map<string, number>();
for (let round = 0, end = Date.now() + seconds * 1000; Date.now() < end; round++) {
  await pause(BETWEEN_FAULTS);
  const name = names[round % names.length] as string;
  await faults[name]?.();
  happened.set(name, (happened.get(name) ?? 0) + 1);
}
isWriting = false;
await writing;

const table = new Map(
  (await query<{ id: number; n: number }>('select id, n from thing order by id')).map(({ id, n }) => [id, n]),
);
const differs = (client: FollowingClient): boolean =>
  client.rows.size !== table.size || [...table].some(([id, n]) => client.rows.get(id) !== n);
// What was committed last is delivered within moments; a client that reconnects needs some seconds.
await until(() => clients.every((client) => client.isConnected && !differs(client)), 30_000).catch(() => {});
const wrong = clients.filter(differs);
const sum = (name: 'connections' | 'changes' | 'resyncs' | 'resumed') =>
  clients.reduce((total, { counts }) => total + counts[name], 0);
console.log(
  `${written} writes, ${clients.length} clients; ${[...happened].map(([name, count]) => `${name}: ${count}`).join(', ')}`,
);
console.log(
  `${sum('connections')} connections, ${sum('resumed')} resumed by position, ${sum('resyncs')} times read again, ${sum('changes')} deliveries`,
);
console.log(`${wrong.length} copies differ from the table`);
for (const client of wrong.slice(0, 3)) {
  const rows = [...table].filter(([id, n]) => client.rows.get(id) !== n);
  console.log(
    `  ${rows.length} of ${table.size} rows, ${JSON.stringify(rows.slice(0, 5))}, connected: ${client.isConnected}`,
  );
}
for (const client of clients) client.stop();
for (const service of services) await service?.kill();
await database.drop();
await server.stop();
process.exitCode = wrong.length > 0 || sum('resumed') === 0 || sum('resyncs') === 0 ? 1 : 0;
