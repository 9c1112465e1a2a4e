import { expect } from 'chai';
import { facet, fail, type Log } from '#kernel';
import { createSender } from '../support/send.ts';
import { type TestPlugin, withBootedTestPlugins } from '../support/test-plugins.ts';

const secrets = [
  'authorization',
  'cookie',
  'password',
  'access_token',
  'refresh_token',
  'token',
  'secret',
  'tfa_secret',
  'otp',
  'set-cookie',
  'proxy-authorization',
  'client_secret',
  'apiKey',
  'x-api-key',
  'credentials',
];

/** The parsed log lines that `write` produces by `host.log` of a plugin. */
async function lines(write: (log: Log) => void): Promise<readonly Record<string, unknown>[]> {
  const plugin: TestPlugin = {
    name: 'writer',
    manifest: { capabilities: { log: true } },
    register: (host) => write(host.log),
  };
  return withBootedTestPlugins([plugin], ({ log }) => log, { environment: { LOG_LEVEL: 'debug' } });
}

describe('host.log', () => {
  it('an entry is one JSON line with the plugin as owner, without pid and hostname', async () => {
    const [line] = await lines((log) => log.info({ count: 3 }, 'counted'));
    const { time, ...rest } = line as { time: string };
    expect(rest).to.deep.equal({ level: 30, owner: 'writer', count: 3, msg: 'counted' });
    expect(new Date(time).toISOString()).to.equal(time);
  });

  for (const key of secrets) {
    it(`an entry never contains the value of ${key}`, async () => {
      const text = JSON.stringify(
        await lines((log) => {
          log.info({ [key]: 'hunter2' }, 'at the top');
          log.info({ body: { [key]: 'hunter2' } }, 'one deeper');
          log.info({ request: { headers: { [key]: 'hunter2' } } }, 'two deeper');
          log.info({ a: { list: [{ b: { [key.toUpperCase()]: 'hunter2' } }] } }, 'in a list, far down, in capitals');
          log.error({ err: Object.assign(new Error('x'), { config: { [key]: 'hunter2' } }) }, 'in an error');
        }),
      );
      expect(text).to.contain('--redact--').and.not.contain('hunter2');
    });
  }

  it('logging does not change the logged object and survives circular references', async () => {
    const circle: Record<string, unknown> = { password: 'hunter2', at: new Date(0) };
    circle.self = circle;
    const [line] = await lines((log) => log.info({ circle, at: new Date(0) }, 'round'));
    expect(circle.password).to.equal('hunter2');
    expect(line).to.include({ at: '1970-01-01T00:00:00.000Z' });
    expect(JSON.stringify(line)).not.to.contain('hunter2');
  });

  it('an entry has the id of its request, which a valid X-Request-Id of the client sets', async () => {
    const plugin: TestPlugin = {
      name: 'writer',
      manifest: { capabilities: { log: true }, contributes: { 'http.middleware': { phases: ['edge'] } } },
      register: ({ log, contribute }) =>
        contribute(facet('http.middleware'), {
          name: 'note',
          phase: 'edge',
          handle: async (_ctx: unknown, next: () => Promise<void>) => {
            await new Promise((resolve) => setImmediate(resolve));
            log.info('passed');
            await next();
          },
        }),
    };
    await withBootedTestPlugins(
      [plugin],
      async ({ kernel, log }) => {
        const request = createSender(`http://127.0.0.1:${(await kernel.listen()).port}`);
        const kept = await request('GET', '/', { headers: { 'x-request-id': 'trace:1.a' } });
        expect(kept.headers.get('x-request-id')).to.equal('trace:1.a');
        const replaced = await request('GET', '/', { headers: { 'x-request-id': 'a b"}' } });
        const own = replaced.headers.get('x-request-id');
        expect(own).to.match(/^[\w-]+$/);
        const long = await request('GET', '/', { headers: { 'x-request-id': 'x'.repeat(65) } });
        expect(long.headers.get('x-request-id')).not.to.equal('x'.repeat(65));
        const ids = log.filter((line) => line.msg === 'passed').map((line) => line.request);
        expect(ids).to.deep.equal(['trace:1.a', own, long.headers.get('x-request-id')]);
        expect(own).not.to.equal(ids[2]);
      },
      { environment: { LOG_LEVEL: 'info' } },
    );
  });

  it('the log has the detail of a refused request, which the client does not see', async () => {
    const plugin: TestPlugin = {
      name: 'guard',
      manifest: { contributes: { 'http.middleware': { phases: ['route'] } } },
      register: (host) =>
        host.contribute(facet('http.middleware'), {
          name: 'guard',
          phase: 'route',
          handle: () => {
            throw fail('FORBIDDEN', 'role may not read secrets');
          },
        }),
    };
    await withBootedTestPlugins(
      [plugin],
      async ({ kernel, log }) => {
        const reply = await createSender(`http://127.0.0.1:${(await kernel.listen()).port}`)('GET', '/');
        expect(JSON.stringify(reply.body)).not.to.contain('secrets');
        expect(log.find((line) => line.msg === 'request refused')).to.include({
          status: 403,
          detail: 'FORBIDDEN: role may not read secrets',
        });
      },
      { environment: { LOG_LEVEL: 'debug' } },
    );
  });
});
