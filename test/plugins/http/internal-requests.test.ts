import { expect } from 'chai';
import { fail, type Host } from '#kernel';
import { type InternalRequest, internalRequests, type Route, routes, routing } from '../../../plugins/http/contract.ts';
import { bodyOf, clientInfoOf, parsedQueryStringOf, sendData } from '../../../plugins/http/library.ts';
import { TEST_ROUTE_DESCRIPTION } from '../../support/route-descriptions.ts';
import { createSender, type SendRequest } from '../../support/send.ts';
import { withBootedTestPlugins } from '../../support/test-plugins.ts';

type Handler = Omit<Route, 'description'>;

/** Boots `http` with routes below /inner, and /outer, which runs one of them and tells what it answered. */
async function withOuterRoute(
  work: (
    outer: (request: InternalRequest, headers?: Record<string, string>) => ReturnType<SendRequest>,
  ) => Promise<void>,
): Promise<void> {
  const register = (host: Host) => {
    const used = host.use({ api: internalRequests, routing });
    const inner: readonly Handler[] = [
      {
        method: 'POST',
        path: '/inner/echo/:name',
        handle(ctx) {
          const { authorization, cookie, 'content-length': length } = ctx.req.headers;
          ctx.set('X-Inner', 'yes');
          ctx.append('Set-Cookie', 'inner=1; Path=/');
          const seen = { authorization, cookie, length, user: ctx.state.caller.user };
          const request = { name: ctx.params.name, query: parsedQueryStringOf(ctx), body: bodyOf(ctx) ?? null };
          sendData(ctx, { ...seen, ...request, client: clientInfoOf(ctx) });
        },
      },
      {
        method: 'POST',
        path: '/inner/unread',
        body: 'unread',
        handle: async (ctx) => sendData(ctx, await used.routing.readBody(ctx as never)),
      },
      { method: 'GET', path: '/inner/redirect', handle: (ctx) => ctx.redirect('/somewhere') },
      { method: 'GET', path: '/inner/nothing', handle: (ctx) => sendData(ctx, undefined) },
      {
        method: 'GET',
        path: '/inner/refusal',
        handle() {
          throw fail('INVALID_CREDENTIALS', 'wrong');
        },
      },
    ];
    const outer: Handler = {
      method: 'POST',
      path: '/outer',
      async handle(ctx) {
        const request = bodyOf(ctx) as InternalRequest;
        const answer = await used.api.send(ctx, request);
        sendData(ctx, { ...answer, has: used.api.has(request.method, request.path), own: ctx.state.body === request });
      },
    };
    for (const route of [...inner, outer]) host.contribute(routes, { ...route, description: TEST_ROUTE_DESCRIPTION });
  };
  const manifest = {
    uses: { 'internal-requests': '^1.0.0', routing: '^1.0.0' },
    contributes: { 'http.routes': { prefixes: ['/inner', '/outer'] } },
  };
  await withBootedTestPlugins(
    [{ name: 'outer', manifest, register }],
    async ({ kernel }) => {
      await kernel.migrate();
      await kernel.start();
      const send = createSender(`http://127.0.0.1:${(await kernel.listen()).port}`);
      await work((body, headers) => send('POST', '/outer', { body, headers }));
    },
    { product: ['http'] },
  );
}

describe('internal requests', () => {
  it('run a route with path parameters, query and body, as the client of the outer request', async () => {
    await withOuterRoute(async (outer) => {
      const headers = { 'user-agent': 'a browser', cookie: 'a=1', authorization: 'Basic x' };
      const request = { method: 'POST', path: '/inner/echo/a%20b?q[x]=1', body: { text: 'ä' } } as const;
      const reply = await outer(request, headers);
      expect(reply.body.data).to.deep.include({ status: 200, has: true, own: true, cookies: ['inner=1; Path=/'] });
      expect(reply.body.data.body.data).to.deep.equal({
        cookie: 'a=1',
        user: null,
        name: 'a b',
        query: { q: { x: '1' } },
        body: { text: 'ä' },
        client: { ip: '127.0.0.1', userAgent: 'a browser', origin: null },
      });
    });
  });

  it('change no header, cookie or status of the outer response', async () => {
    await withOuterRoute(async (outer) => {
      const { headers, status } = await outer({ method: 'POST', path: '/inner/echo/x' });
      expect([status, headers.get('x-inner'), headers.get('set-cookie')]).to.deep.equal([200, null, null]);
      const { body } = await outer({ method: 'GET', path: '/inner/redirect' });
      expect(body.data).to.include({ status: 302 }).and.not.have.property('body');
      expect((await outer({ method: 'GET', path: '/inner/nothing' })).body.data.status).to.equal(204);
    });
  });

  it('pass their body to a route that reads the body itself', async () => {
    await withOuterRoute(async (outer) => {
      const { body } = await outer({ method: 'POST', path: '/inner/unread', body: { a: [1] } });
      expect(body.data.body).to.deep.equal({ data: { a: [1] } });
    });
  });

  it('fail with the error of the route, and with ROUTE_NOT_FOUND without one', async () => {
    await withOuterRoute(async (outer) => {
      const codeOf = async (request: InternalRequest) => (await outer(request)).body.errors[0].extensions.code;
      expect(await codeOf({ method: 'GET', path: '/inner/refusal' })).to.equal('INVALID_CREDENTIALS');
      expect(await codeOf({ method: 'GET', path: '/inner/missing' })).to.equal('ROUTE_NOT_FOUND');
      expect(await codeOf({ method: 'POST', path: '/inner/refusal' })).to.equal('ROUTE_NOT_FOUND');
      expect(await codeOf({ method: 'GET', path: '/inner/%E0' })).to.equal('ROUTE_NOT_FOUND');
    });
  });
});
