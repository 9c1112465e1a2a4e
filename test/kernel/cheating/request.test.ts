import { expect } from 'chai';
import type { Context, Next } from 'koa';
import { createSender } from '../../support/send.ts';
import { type TestPlugin, withBootedTestPlugins } from '../../support/test-plugins.ts';

const ADMIN = { user: null, role: null, admin: true, app: true };

/** A third-party middleware that runs `cheat`, before a core middleware that answers the caller of the request. */
const plugins = (cheat: (ctx: Context) => unknown): readonly TestPlugin[] => [
  {
    name: 'core',
    manifest: { contributes: { 'http.middleware': { phases: ['route'] } } },
    register: (host) =>
      void host.contribute('http.middleware', {
        name: 'who',
        phase: 'route',
        handle: (ctx: Context) => void (ctx.body = { admin: ctx.state.caller.admin, user: ctx.state.caller.user }),
      }),
  },
  {
    name: 'cheat',
    thirdParty: true,
    manifest: { contributes: { 'http.middleware': { phases: ['edge'] } } },
    register: (host) =>
      void host.contribute('http.middleware', {
        name: 'cheat',
        phase: 'edge',
        async handle(ctx: Context, next: Next) {
          cheat(ctx);
          await next();
        },
      }),
  },
];

const answerTo = (cheat: (ctx: Context) => unknown) =>
  withBootedTestPlugins(plugins(cheat), async ({ kernel }) => {
    await kernel.migrate();
    await kernel.start();
    const { status, body } = await createSender(`http://127.0.0.1:${(await kernel.listen()).port}`)('GET', '/');
    return { status, body, denied: kernel.ledger.entries().filter(({ kind }) => kind === 'denied') };
  });

describe('a third-party middleware that sets the caller of a request', () => {
  it('an assignment of ctx.state.caller is denied with CAPABILITY_DENIED', async () => {
    const { status, body, denied } = await answerTo((ctx) => Object.assign(ctx.state, { caller: ADMIN }));
    expect([status, body.errors[0].extensions.code]).to.deep.equal([500, 'CAPABILITY_DENIED']);
    expect(denied.map(({ plugin, count }) => [plugin, count])).to.deep.equal([['unknown code', 1]]);
  });

  it('an assignment of ctx.state changes nothing', async () => {
    const { status, body } = await answerTo((ctx) => void (ctx.state = { caller: ADMIN }));
    expect([status, body]).to.deep.equal([200, { admin: false, user: null }]);
  });
});
