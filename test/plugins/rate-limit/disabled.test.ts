import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { startRedis } from '../../support/redis-server.ts';
import { createMigratedDatabase, startService } from '../../support/service.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Starts a service in a process of its own, without listening, and prints the packages that it has loaded. */
const SCRIPT = `
  import { registerHooks } from 'node:module';
  const files = [];
  registerHooks({ load: (url, context, next) => (files.push(url), next(url, context)) });
  const { boot } = await import('${new URL('kernel/boot.ts', `file://${root}`).href}');
  const { listCorePlugins } = await import('${new URL('plugins/core-plugins.ts', `file://${root}`).href}');
  const kernel = await boot(listCorePlugins());
  await kernel.migrate();
  await kernel.start();
  await kernel.stop();
  const packages = [...new Set(files.flatMap((url) => /\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1] ?? []))];
  process.stdout.write('\\n' + JSON.stringify(packages));
`;

/** The packages that a start loads. */
async function packagesOfStart(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', SCRIPT], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      CONFIG_PATH: '/dev/null',
      EXTENSIONS_PATH: '/dev/null',
      LOG_LEVEL: 'silent',
      ...env,
    },
  });
  return JSON.parse(stdout.split('\n').at(-1) as string);
}

const LIBRARIES = ['rate-limiter-flexible', 'ioredis'];

describe('rate limits that are off', function () {
  this.timeout(180_000);

  it('load no library and open no connection, also where a Redis is named', async () => {
    const [database, redis] = await Promise.all([createMigratedDatabase('limits_off'), startRedis()]);
    try {
      const env = {
        DB_CONNECTION_STRING: database.url,
        DATA_PATH: '/tmp/unused',
        SECRET: 'x'.repeat(32),
        REDIS: redis.url,
      };
      const off = await packagesOfStart(env);
      expect(LIBRARIES.filter((name) => off.includes(name))).to.deep.equal([]);
      expect(off).to.include('koa');
      expect(await redis.command('CLIENT LIST')).not.to.contain('name=tenon');
      const on = await packagesOfStart({
        ...env,
        RATE_LIMITER_ENABLED: 'true',
        RATE_LIMITER_STORE: 'redis',
        PRESSURE_LIMITER_ENABLED: 'true',
      });
      expect(on).to.include.members(LIBRARIES);
    } finally {
      await Promise.all([database.drop(), redis.stop()]);
    }
  });

  it('add no layer around requests and no header to responses', async () => {
    const layers: string[][] = [];
    for (const env of [{}, { RATE_LIMITER_ENABLED: 'true', PRESSURE_LIMITER_ENABLED: 'true' }]) {
      const service = await startService({ env: env as Record<string, string> });
      try {
        layers.push(
          ['@tenon/rate-limit', '@tenon/pressure-limit'].map(
            (name) => `${name}: ${service.kernel.countOf(name).facets}`,
          ),
        );
        const { headers } = await service.request('GET', '/server/ping');
        expect(headers.has('ratelimit-limit')).to.equal('RATE_LIMITER_ENABLED' in env);
      } finally {
        await service.stop();
      }
    }
    expect(layers).to.deep.equal([
      // The migration of the table is there in any case.
      ['@tenon/rate-limit: 1', '@tenon/pressure-limit: 0'],
      // Layers, health checks and metrics.
      ['@tenon/rate-limit: 4', '@tenon/pressure-limit: 2'],
    ]);
  });
});
