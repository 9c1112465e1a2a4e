import { expect } from 'chai';
import { VERSION } from '#kernel';
import type { FreshDatabase } from '../support/database.ts';
import { startRedis, type TestRedis } from '../support/redis-server.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const STATUS = 'x-cache-status';
const PATH = '/items/note?sort=id';

describe('the response cache in Redis', function () {
  this.timeout(120_000);
  let redis: TestRedis;
  let database: FreshDatabase;
  let one: InProcessService;
  let two: InProcessService;
  before(async () => {
    redis = await startRedis();
    database = await createMigratedDatabase('cache_redis');
    await database.query(`create table note (id int primary key, text text); insert into note values (1, 'first')`);
    const env = { CACHE_ENABLED: 'true', CACHE_STORE: 'redis', CACHE_STATUS_HEADER: STATUS, REDIS: redis.url };
    one = await startService({ env, database });
    two = await startService({ env, database });
  });
  after(async () => {
    await one?.stop();
    await two?.stop();
    await database?.drop();
    await redis?.stop();
  });

  const read = (service: InProcessService) => service.request('GET', PATH, { token: service.admin.token });
  const textOf = async (service: InProcessService) => (await read(service)).body.data[0].text;
  const untilCached = (service: InProcessService) =>
    until(async () => (await read(service)).headers.get(STATUS) === 'HIT');
  const write = (service: InProcessService, text: string) =>
    service.request('PATCH', '/items/note/1', { token: service.admin.token, body: { text } });
  const healthOf = async (service: InProcessService) =>
    (await service.request('GET', '/server/health', { token: service.admin.token })).body.checks[
      'cache:responseTime'
    ][0];

  it('answers at one process what another has stored, until a row changes', async () => {
    await untilCached(one);
    // The second process looks at the triggers itself only before it stores.
    expect((await read(two)).headers.get(STATUS)).to.equal('HIT');
    await write(one, 'second');
    expect(await textOf(two)).to.equal('second');
    expect(await textOf(one)).to.equal('second');
    expect((await healthOf(one)).status).to.equal('ok');
  });

  it('answers without the cache while Redis is away, and never with an answer of before', async () => {
    await untilCached(two);
    await redis.kill();
    expect(await textOf(one)).to.equal('second');
    expect(await textOf(two)).to.equal('second');
    await until(async () => (await healthOf(one)).status === 'warn');
    await write(two, 'third');
    expect(await textOf(one)).to.equal('third');
    await redis.start();
    await untilCached(one);
    await untilCached(two);
    expect(await textOf(one)).to.equal('third');
    expect((await healthOf(one)).status).to.equal('ok');
  });

  it('answers without the cache while Redis is frozen, and forgets what changed meanwhile', async () => {
    await untilCached(one);
    redis.freeze();
    try {
      await write(one, 'fourth');
      expect(await textOf(two)).to.equal('fourth');
      expect(await textOf(one)).to.equal('fourth');
    } finally {
      redis.thaw();
    }
    for (const service of [one, two]) {
      expect(await textOf(service)).to.equal('fourth');
      await untilCached(service);
      expect(await textOf(service)).to.equal('fourth');
    }
  });

  it('stores answers again after Redis has lost or evicted its state', async () => {
    await untilCached(one);
    await redis.command('FLUSHALL');
    expect(await textOf(one)).to.equal('fourth');
    await untilCached(one);
  });

  it('keeps the answers of one version of the service apart from those of another', async () => {
    await untilCached(one);
    const keys = (await redis.command('KEYS cache:*')).match(/cache:\S+/g) ?? [];
    expect(keys).to.have.length.above(1);
    expect(keys.filter((key) => !key.startsWith(`cache:{system-cache}:${VERSION}:`))).to.deep.equal([]);
  });

  it('POST /utils/cache/clear empties it', async () => {
    await untilCached(one);
    await two.request('POST', '/utils/cache/clear', { token: two.admin.token });
    expect((await read(one)).headers.get(STATUS)).to.equal('MISS');
  });
});
