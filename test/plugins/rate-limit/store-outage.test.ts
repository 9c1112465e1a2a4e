import { expect } from 'chai';
import { findFreePort } from '../../support/free-port.ts';
import { startRedis, type TestRedis } from '../../support/redis-server.ts';
import { type InProcessService, spawnService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const POINTS = 5;
const LIMITED = {
  RATE_LIMITER_ENABLED: 'true',
  RATE_LIMITER_POINTS: String(POINTS),
  RATE_LIMITER_DURATION: '3600',
  RATE_LIMITER_HEALTHCHECK_THRESHOLD: '1m',
  IP_TRUST_PROXY: '1',
  LOG_LEVEL: 'warn',
};
const LET_THROUGH = [...Array(POINTS).fill(200), 429];
const AWAY = 'the store of rate limits is away: each process counts for itself';
const BACK = 'the store of rate limits is back';

const ask = (service: InProcessService, address: string, path = '/server/ping', token?: string) =>
  service.request('GET', path, { token, headers: { 'x-forwarded-for': address } });

async function statusesOf(service: InProcessService, address: string, count = POINTS + 1): Promise<readonly number[]> {
  const all: number[] = [];
  for (let at = 0; at < count; at++) all.push((await ask(service, address)).status);
  return all;
}

async function healthOf(service: InProcessService, address: string) {
  const { status, body } = await ask(service, address, '/server/health', service.admin.token);
  return { status, overall: body.status, check: body.checks['rateLimiter:responseTime'][0] };
}

const logOf = (service: InProcessService) =>
  service.log.map(({ msg }) => String(msg)).filter((line) => /Redis|rate limits/.test(line));

describe('rate limits that count in Redis', function () {
  this.timeout(120_000);
  let redis: TestRedis;
  let service: InProcessService;
  before(async function () {
    this.timeout(180_000);
    redis = await startRedis();
    service = await startService({ env: { ...LIMITED, RATE_LIMITER_STORE: 'redis', REDIS: redis.url } });
  });
  after(async () => {
    await service?.stop();
    await redis?.stop();
  });
  const countOf = async (address: string) =>
    Number(/^\$\d+\r\n(\d+)/.exec(await redis.command(`GET rate-limit:address:${address}`))?.[1]);

  it('a client over its limit causes no further traffic to Redis, and its key ends with its window', async () => {
    const address = '198.51.100.1';
    expect(await statusesOf(service, address, 50)).to.deep.equal([
      ...LET_THROUGH,
      ...Array(50 - LET_THROUGH.length).fill(429),
    ]);
    expect(await countOf(address)).to.equal(POINTS + 1);
    const [, seconds] = /^:(\d+)/.exec(await redis.command(`TTL rate-limit:address:${address}`)) ?? [];
    expect(Number(seconds)).to.be.within(3300, 3600);
    expect((await healthOf(service, '198.51.100.2')).check).to.include({ status: 'ok' });
  });

  it('requests go on while Redis gives no answer, and one request a second waits for it', async () => {
    redis.freeze();
    try {
      const begin = performance.now();
      expect(await statusesOf(service, '198.51.100.3')).to.deep.equal(LET_THROUGH);
      expect(performance.now() - begin).to.be.below(10_000);
      expect((await healthOf(service, '198.51.100.4')).check).to.include({ status: 'warn' });
    } finally {
      redis.thaw();
    }
    let tries = 0;
    await until(async () => {
      await ask(service, `203.0.113.${tries++ % 250}`);
      return logOf(service).includes(BACK);
    });
  });

  it('requests go on while Redis is away, health is a warning with the reason, and the log has a line at either end', async () => {
    const before = logOf(service).length;
    await redis.kill();
    expect(await statusesOf(service, '198.51.100.5')).to.deep.equal(LET_THROUGH);
    const away = await healthOf(service, '198.51.100.6');
    expect([away.status, away.overall, away.check.status]).to.deep.equal([200, 'warn', 'warn']);
    expect(away.check.output).to.be.a('string').and.not.equal('');

    await redis.start();
    let tries = 0;
    await until(async () => {
      await ask(service, `192.0.2.${tries++ % 250}`);
      return (await redis.command('KEYS rate-limit:*')).includes('rate-limit:address:192.0.2.');
    });
    expect((await healthOf(service, '198.51.100.7')).check).to.include({ status: 'ok' });
    expect(logOf(service).slice(before).sort()).to.deep.equal(
      ['no connection to Redis', 'Redis is reached again', AWAY, BACK].sort(),
    );
  });

  it('a process whose Redis was never there starts, limits and stops', async () => {
    const env = { ...LIMITED, RATE_LIMITER_STORE: 'redis', REDIS: `redis://127.0.0.1:${await findFreePort()}` };
    const lonely = await spawnService({ env });
    try {
      expect(await statusesOf(lonely as never, '198.51.100.1')).to.deep.equal(LET_THROUGH);
      expect(await lonely.kill()).to.equal(0);
    } finally {
      await lonely.stop();
    }
  });
});

describe('rate limits that count in PostgreSQL', function () {
  this.timeout(120_000);
  let service: InProcessService;
  before(async () => {
    service = await startService({ env: { ...LIMITED, RATE_LIMITER_STORE: 'postgres' } });
  });
  after(() => service?.stop());

  it('a client over its limit causes no further statement', async () => {
    const address = '198.51.100.1';
    expect(await statusesOf(service, address, 20)).to.deep.equal([...LET_THROUGH, ...Array(14).fill(429)]);
    expect(
      await service.database.query(`select used::int from platform_rate_limits where key = 'address:${address}'`),
    ).to.deep.equal([{ used: POINTS + 1 }]);
  });

  it('requests go on while the table cannot be used, health is a warning, and the log has a line at either end', async () => {
    await service.database.query('alter table platform_rate_limits rename to elsewhere');
    expect(await statusesOf(service, '198.51.100.2')).to.deep.equal(LET_THROUGH);
    const away = await healthOf(service, '198.51.100.3');
    expect([away.status, away.check.status]).to.deep.equal([200, 'warn']);
    expect(away.check.output).to.contain('platform_rate_limits');
    await service.database.query('alter table elsewhere rename to platform_rate_limits');
    let tries = 0;
    await until(async () => {
      await ask(service, `192.0.2.${tries++ % 250}`);
      return logOf(service).includes(BACK);
    });
    expect(logOf(service)).to.deep.equal([AWAY, BACK]);
    expect((await healthOf(service, '198.51.100.4')).check).to.include({ status: 'ok' });
  });
});
