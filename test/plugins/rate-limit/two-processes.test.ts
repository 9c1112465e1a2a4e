import { expect } from 'chai';
import type { FreshDatabase } from '../../support/database.ts';
import { startRedis, type TestRedis } from '../../support/redis-server.ts';
import { createMigratedDatabase, type SpawnedService, spawnService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const POINTS = 10;
/** Clients of the first test, each with a window of its own. */
const CLIENTS = 40;

interface Reply {
  readonly status: number;
  readonly begun: number;
  readonly reset: number | undefined;
}

async function send(service: SpawnedService, address: string): Promise<Reply> {
  const begun = Date.now();
  const response = await fetch(`${service.url}/server/ping`, { headers: { 'x-forwarded-for': address } });
  const text = await response.text();
  const reset = response.status === 429 ? Date.parse(JSON.parse(text).errors[0].extensions.reset) : undefined;
  return { status: response.status, begun, reset };
}

/** Sends twice the points to both processes at once, and answers how many requests were let through. */
async function burst(services: readonly SpawnedService[], address: string): Promise<readonly Reply[]> {
  return Promise.all(
    Array.from({ length: 2 * POINTS }, (_, at) => send(services[at % services.length] as SpawnedService, address)),
  );
}

const countAccepted = (replies: readonly Reply[]) => replies.filter(({ status }) => status === 200).length;

for (const store of ['redis', 'postgres'] as const)
  describe(`two processes that count in ${store}`, function () {
    this.timeout(180_000);
    let database: FreshDatabase;
    let redis: TestRedis | undefined;
    const spawnTwo = (duration: number) => {
      const env = {
        RATE_LIMITER_ENABLED: 'true',
        RATE_LIMITER_POINTS: String(POINTS),
        RATE_LIMITER_DURATION: String(duration),
        RATE_LIMITER_STORE: store,
        IP_TRUST_PROXY: '1',
        LOG_LEVEL: 'warn',
        ...(redis ? { REDIS: redis.url } : {}),
      };
      return Promise.all([spawnService({ database, env }), spawnService({ database, env })]);
    };
    /** Runs `work` with two processes, and ends both by SIGTERM. */
    async function withTwo(duration: number, work: (services: readonly SpawnedService[]) => Promise<void>) {
      const services = await spawnTwo(duration);
      try {
        await work(services);
        expect(await Promise.all(services.map((service) => service.kill()))).to.deep.equal([0, 0]);
      } finally {
        await Promise.all(services.map((service) => service.stop()));
      }
    }

    before(async function () {
      this.timeout(180_000);
      [database, redis] = await Promise.all([
        createMigratedDatabase(`limits_${store}`),
        store === 'redis' ? startRedis() : undefined,
      ]);
    });
    after(async () => {
      await redis?.stop();
      await database?.drop();
    });

    it('let through as many requests as one process would, in many windows', () =>
      withTwo(3600, async (services) => {
        const sums: number[] = [];
        for (let client = 1; client <= CLIENTS; client++)
          sums.push(countAccepted(await burst(services, `198.51.100.${client}`)));
        for (const sum of sums) expect(sum).to.be.within(POINTS - 1, POINTS);
      }));

    it('let through as many in windows of one client that follow one another', () =>
      withTwo(2, async (services) => {
        const address = '203.0.113.1';
        for (let round = 0; round < 5; round++) {
          const begin = Date.now();
          const replies = await burst(services, address);
          const windows = 1 + Math.ceil((Date.now() - begin) / 2000);
          const resets = replies.flatMap(({ reset }) => reset ?? []);
          const accepted = countAccepted(replies);
          // A machine that is so busy that the burst takes longer than a window sees the points of several.
          if (resets.length === 0 || Math.max(...resets) > begin + 2200)
            expect(accepted).to.be.at.most(windows * POINTS);
          else expect(accepted).to.be.within(POINTS - 1, POINTS);
          const end = Math.max(0, ...resets);
          await until(() => Date.now() > end);
        }
      }));
  });
