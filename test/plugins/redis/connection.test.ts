import { expect } from 'chai';
import { type RedisConnection, redis } from '../../../plugins/redis/contract.ts';
import { findFreePort } from '../../support/free-port.ts';
import { startRedis, type TestRedis } from '../../support/redis-server.ts';
import { captureError, type TestPlugin, withBootedTestPlugins } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';

/** Boots the plugin `redis` and one that uses it, and runs `work` with the service. */
async function withConnection(
  environment: Readonly<Record<string, string>>,
  work: (context: {
    readonly connection: RedisConnection;
    readonly lines: () => readonly string[];
    readonly stop: () => Promise<void>;
  }) => Promise<void>,
): Promise<void> {
  let connection: RedisConnection | undefined;
  const user: TestPlugin = {
    name: 'user',
    manifest: { uses: { redis: '^1.0.0' } },
    register(host) {
      connection = host.use({ redis }).redis;
    },
  };
  await withBootedTestPlugins(
    [user],
    async ({ kernel, log }) => {
      await kernel.start();
      const lines = () => log.filter(({ owner }) => owner === '@tenon/redis').map(({ msg }) => String(msg));
      if (!connection) throw new Error('the plugin did not register');
      await work({ connection, lines, stop: () => kernel.stop() });
    },
    { product: ['redis'], environment: { ...environment, LOG_LEVEL: 'warn' } },
  );
}

describe('the connection to Redis', function () {
  this.timeout(60_000);
  let server: TestRedis;
  before(async function () {
    this.timeout(180_000);
    server = await startRedis();
  });
  after(() => server?.stop());

  const clients = async () => ((await server.command('CLIENT LIST')).match(/name=tenon/g) ?? []).length;

  it('is opened by its first use, once for all users, and closed when the service stops', () =>
    withConnection({ REDIS: server.url }, async ({ connection, stop }) => {
      expect(connection.isConfigured).to.equal(true);
      expect(await clients()).to.equal(0);
      const [one, two] = await Promise.all([connection.open(), connection.open()]);
      expect(one).to.equal(two);
      expect(await one.set('a', '1')).to.equal('OK');
      expect(await clients()).to.equal(1);
      await stop();
      await until(async () => (await clients()) === 0);
    }));

  it('is made from REDIS_HOST, REDIS_PORT and REDIS_DB as well', () =>
    withConnection({ REDIS_HOST: '127.0.0.1', REDIS_PORT: String(server.port), REDIS_DB: '3' }, async (context) => {
      const client = await context.connection.open();
      await client.set('in-three', '1');
      expect(await server.command('SELECT 3\r\nEXISTS in-three')).to.contain(':1');
    }));

  it('uses REDIS_DB beside a REDIS that names no database', () =>
    withConnection({ REDIS: server.url, REDIS_DB: '4' }, async ({ connection }) => {
      await (await connection.open()).set('in-four', '1');
      expect(await server.command('SELECT 4\r\nEXISTS in-four')).to.contain(':1');
    }));

  it('takes REDIS_DB and REDIS_PORT that agree with REDIS', () => {
    const environment = { REDIS: `${server.url}/5`, REDIS_DB: '5', REDIS_PORT: String(server.port) };
    return withConnection(environment, async ({ connection }) => {
      await (await connection.open()).set('in-five', '1');
      expect(await server.command('SELECT 5\r\nEXISTS in-five')).to.contain(':1');
    });
  });

  it('uses user and password, and logs a wrong password without repeating it', async () => {
    const locked = await startRedis(['--requirepass', 'right one']);
    try {
      await withConnection({ REDIS: `redis://:right%20one@127.0.0.1:${locked.port}` }, async ({ connection }) => {
        expect(await (await connection.open()).ping()).to.equal('PONG');
      });
      const parts = { REDIS_HOST: '127.0.0.1', REDIS_PORT: String(locked.port), REDIS_PASSWORD: 'wrong one' };
      await withConnection(parts, async ({ connection, lines }) => {
        const client = await connection.open();
        expect(await captureError(client.ping())).to.be.instanceOf(Error);
        expect(lines()).to.deep.equal(['no connection to Redis']);
      });
    } finally {
      await locked.stop();
    }
  });

  it('rejects commands at once while Redis is away, logs one line about it, and connects again by itself', () =>
    withConnection({ REDIS: server.url }, async ({ connection, lines }) => {
      const client = await connection.open();
      await server.kill();
      await until(() => client.status !== 'ready');
      const begin = performance.now();
      for (let count = 0; count < 200; count++) await captureError(client.get('a'));
      expect(performance.now() - begin).to.be.below(1000);
      expect(lines()).to.deep.equal(['no connection to Redis']);
      await server.start();
      await until(async () => (await client.ping().catch(() => '')) === 'PONG');
      expect(lines()).to.deep.equal(['no connection to Redis', 'Redis is reached again']);
    }));

  it('a server that answers no command makes commands reject in time', () =>
    withConnection({ REDIS: server.url }, async ({ connection }) => {
      const client = await connection.open();
      server.freeze();
      try {
        const begin = performance.now();
        expect((await captureError(client.get('a'))).message).to.match(/timed out|timeout/i);
        expect(performance.now() - begin).to.be.below(10_000);
      } finally {
        server.thaw();
      }
    }));

  it('a Redis that is away at the first use neither rejects nor keeps the service from stopping', async () => {
    await withConnection({ REDIS: `redis://127.0.0.1:${await findFreePort()}` }, async ({ connection, stop }) => {
      const client = await connection.open();
      expect(await captureError(client.ping())).to.be.instanceOf(Error);
      await stop();
      expect(client.status).not.to.equal('ready');
    });
  });

  it('is INVALID_CONFIG where no server is named or REDIS_ENABLED is false', async () => {
    const all: readonly Readonly<Record<string, string>>[] = [{}, { REDIS: server.url, REDIS_ENABLED: 'false' }];
    for (const environment of all)
      await withConnection(environment, async ({ connection }) => {
        expect(connection.isConfigured).to.equal(false);
        expect(await captureError(connection.open())).to.include({ code: 'INVALID_CONFIG' });
      });
  });
});

describe('settings of Redis', () => {
  const wrong: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'two servers': { REDIS: 'redis://a', REDIS_HOST: 'b' },
    'an address of another kind': { REDIS: 'http://user:hush@a' },
    'a database that is no number': { REDIS: 'redis://a/first' },
    'a password beside an address': { REDIS: 'redis://a', REDIS_PASSWORD: 'hush' },
    'another database beside an address': { REDIS: 'redis://a/1', REDIS_DB: '2' },
    'another database beside the query of an address': { REDIS: 'redis://a?db=1', REDIS_DB: '2' },
    'another port beside an address': { REDIS: 'redis://a:6380', REDIS_PORT: '6381' },
    'another port beside an address without one': { REDIS: 'redis://a', REDIS_PORT: '6381' },
    'a user without a password': { REDIS_HOST: 'a', REDIS_USERNAME: 'b' },
    'REDIS_ENABLED without a server': { REDIS_ENABLED: 'true' },
  };
  for (const [name, environment] of Object.entries(wrong))
    it(`${name} stops the start with a remedy`, async () => {
      const failure = await captureError(withConnection(environment, async () => {}));
      expect(failure).to.include({ name: 'BootFailure', plugin: '@tenon/redis', phase: 'config' });
      expect(failure.remedy).to.be.a('string');
      expect(`${failure.message} ${failure.remedy}`).not.to.contain('hush');
    });
});
