/**
 * `npm run soak:realtime [-- --seconds 300 --clients 200]`: clients that come, subscribe to different questions, read nothing for a while,
 * send nonsense and leave, while rows change all the time. Fails on memory that grows by more than 15 % once warm, on triggers
 * that stay after the service has stopped, on lines of the log, on no messages, and on a service that does not answer afterwards.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { WebSocket } from 'ws';
import { freshDatabase } from '../test/support/database.ts';
import { startDatabaseServer } from '../test/support/database-server.ts';
import { createSeededRandom } from '../test/support/random.ts';
import { spawnService } from '../test/support/service.ts';
import { socketUrl } from './bench-realtime/subscribers.ts';
import { computeMemoryGrowthPercent, computeMemorySlope, watchServiceResources } from './soak/watch.ts';

const MAX_GROWTH_PERCENT = 15;
const KINDS = 20;
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '300' }, clients: { type: 'string', default: '200' } },
});
const seconds = Number(values.seconds);
const random = createSeededRandom(1);
const counts = { connections: 0, messages: 0, changes: 0, errors: 0 };

/** One client after the other, until the end: what it does is drawn. */
async function comeAndGo(url: string, end: number): Promise<void> {
  while (Date.now() < end) {
    const socket = new WebSocket(url);
    await new Promise<void>((resolve) => {
      socket.on('error', () => counts.errors++);
      socket.on('close', () => resolve());
      socket.on('message', () => counts.messages++);
      socket.on('open', () => {
        counts.connections++;
        for (let at = 0; at < 1 + random.upTo(3); at++) socket.send(JSON.stringify(drawSubscription(at)));
        if (random.chance(0.1)) socket.send('nonsense');
        if (random.chance(0.1)) socket.send(Buffer.from([1]), { binary: true });
        if (random.chance(0.2)) socket.pause();
        setTimeout(() => (random.chance(0.5) ? socket.close() : socket.terminate()), 200 + random.upTo(4000));
      });
      // A client that reads nothing does not answer to `close` either.
      setTimeout(() => socket.terminate(), 6000).unref();
    });
  }
}

const drawSubscription = (at: number) => ({
  ...{ type: 'subscribe', collection: 'thing', uid: `s${at}`, leaving: random.chance(0.3) },
  query: { fields: ['id', 'text'], limit: 5, filter: { kind: { _eq: random.upTo(KINDS) } } },
  ...(random.chance(0.2) ? { item: String(1 + random.upTo(500)) } : {}),
});

const server = await startDatabaseServer();
process.env.TEST_DATABASE_URL = server.url;
const database = await freshDatabase('realtime_soak');
await database.query('create table thing (id int primary key, kind int, text text)');
await database.query(`insert into thing select i, i % ${KINDS}, repeat('text ', 20) from generate_series(1, 500) i`);
const service = await spawnService({
  database,
  env: {
    ...{ WEBSOCKETS_ENABLED: 'true', WEBSOCKETS_REST_AUTH: 'strict', ACCESS_TOKEN_TTL: '1d', LOG_LEVEL: 'warn' },
    // A small history is full soon, and a small heap is collected soon: what grows after that is a leak.
    ...{ WEBSOCKETS_HISTORY_SIZE: '1mb', NODE_OPTIONS: '--max-old-space-size=112' },
  },
});
try {
  const end = Date.now() + seconds * 1000;
  const watching = watchServiceResources(service.pid, 'tenon', database);
  const url = socketUrl(service.url, service.admin.token);
  const clients = Array.from({ length: Number(values.clients) }, () => comeAndGo(url, end));
  while (Date.now() < end) {
    const id = 1 + random.upTo(500);
    await database.query('update thing set kind = $2, text = $3 where id = $1', [
      ...[id, random.upTo(KINDS), 'text '.repeat(random.upTo(400))],
    ]);
    counts.changes++;
    await pause(5);
  }
  await Promise.all(clients);
  watching.stop();
  const grown = computeMemoryGrowthPercent(watching.samples);
  const lines = service
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{') && !line.includes('storage location'));
  const pong = await service.request('GET', '/server/ping');
  await service.kill();
  const [left] = await database.query<{ count: string }>(
    `select count(*) as count from pg_trigger where tgname like 'platform_row_feed%'`,
  );
  console.log(
    `${counts.connections} connections, ${counts.changes} changes, ${counts.messages} messages, ${counts.errors} errors of clients in ${seconds} s`,
  );
  console.log(
    `memory ${grown.toFixed(1)} % growth once warm, ${computeMemorySlope(watching.samples).toFixed(1)} MB a minute, ${watching.samples.at(-1)?.megabytes.toFixed(0)} MB at the end`,
  );
  console.log(`lines of the log: ${lines.length}${lines.length > 0 ? `, the first: ${lines[0]?.slice(0, 400)}` : ''}`);
  console.log(`triggers after the end: ${left?.count}`);
  const isWrong =
    grown > MAX_GROWTH_PERCENT ||
    pong.status !== 200 ||
    left?.count !== '0' ||
    lines.length > 0 ||
    counts.messages === 0;
  console.log(isWrong ? 'FAILED' : 'passed');
  process.exitCode = isWrong ? 1 : 0;
} finally {
  await service.stop();
  await database.drop();
  await server.stop();
}
