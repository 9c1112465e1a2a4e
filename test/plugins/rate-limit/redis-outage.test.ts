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
  RATE_LIMITER_STORE: 'redis',
  IP_TRUST_PROXY: '1',
  LOG_LEVEL: 'warn',
};

describe('rate limits while Redis is away', function () {
  this.timeout(120_000);
  let redis: TestRedis;
  let service: InProcessService;
  before(async function () {
    this.timeout(180_000);
    redis = await startRedis();
    service = await startService({ env: { ...LIMITED, REDIS: redis.url, RATE_LIMITER_HEALTHCHECK_THRESHOLD: '1m' } });
  });
  after(async () => {
    await service?.stop();
    await redis?.stop();
  });

  const ask = (address: string, path = '/server/ping', token?: string) =>
    service.request('GET', path, { token, headers: { 'x-forwarded-for': address } });
  const statuses = async (address: string, count: number) => {
    const all: number[] = [];
    for (let at = 0; at < count; at++) all.push((await ask(address)).status);
    return all;
  };
  const healthOf = async (address: string) => {
    const { status, body } = await ask(address, '/server/health', service.admin.token);
    return { status, overall: body.status, check: body.checks['rateLimiter:responseTime'][0] };
  };
  const LET_THROUGH = [...Array(POINTS).fill(200), 429];

  it('requests go on, limited by each process, health is a warning with the reason, and all is well again afterwards', async () => {
    expect(await statuses('198.51.100.1', POINTS + 1)).to.deep.equal(LET_THROUGH);
    expect(await redis.command('GET rate-limit:address:198.51.100.1')).to.match(/^\$1\r\n6/);
    expect((await healthOf('198.51.100.2')).check).to.include({ status: 'ok' });

    await redis.kill();
    expect(await statuses('198.51.100.3', POINTS + 1)).to.deep.equal(LET_THROUGH);
    const away = await healthOf('198.51.100.4');
    expect([away.status, away.overall, away.check.status]).to.deep.equal([200, 'warn', 'warn']);
    expect(away.check.output).to.be.a('string').and.not.equal('');

    await redis.start();
    let tries = 0;
    await until(async () => {
      await ask(`203.0.113.${tries++ % 250}`);
      return (await redis.command('KEYS rate-limit:*')).includes('rate-limit:address:203.0.113.');
    });
    expect((await healthOf('198.51.100.5')).check).to.include({ status: 'ok' });
    const lines = service.log.map(({ msg }) => msg);
    expect(lines.filter((line) => /Redis|rate limits/.test(String(line))).sort()).to.deep.equal([
      'Redis is reached again',
      'no connection to Redis',
      'the store of rate limits is away: each process counts for itself',
      'the store of rate limits is back',
    ]);
  });

  it('a process whose Redis was never there starts, limits and stops', async () => {
    const lonely = await spawnService({ env: { ...LIMITED, REDIS: `redis://127.0.0.1:${await findFreePort()}` } });
    try {
      const all: number[] = [];
      for (let at = 0; at <= POINTS; at++)
        all.push(
          (await lonely.request('GET', '/server/ping', { headers: { 'x-forwarded-for': '198.51.100.1' } })).status,
        );
      expect(all).to.deep.equal(LET_THROUGH);
      expect(await lonely.kill()).to.equal(0);
    } finally {
      await lonely.stop();
    }
  });
});
