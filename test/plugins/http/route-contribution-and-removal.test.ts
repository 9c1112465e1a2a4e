import { expect } from 'chai';
import {
  type PathClaimKind,
  type RouteMount,
  type RoutingService,
  reservedSegments,
  routeMounts,
  routes,
  routing,
} from '../../../plugins/http/contract.ts';
import { TEST_ROUTE_DESCRIPTION } from '../../support/route-descriptions.ts';
import { captureError, type TestPlugin, withBootedTestPlugins } from '../../support/test-plugins.ts';

interface Hands {
  readonly routing: RoutingService;
  addRoute(path: string): () => void;
  addMount(path: string, answer: string): () => void;
}

const author = (receive: (hands: Hands) => void): TestPlugin => ({
  name: 'author',
  manifest: {
    uses: { routing: '^1.0.0' },
    contributes: {
      'http.routes': { prefixes: ['/notes', '/late'] },
      'http.mounts': {},
      'http.reserved': { names: ['later'] },
    },
  },
  register(host) {
    const send =
      (body: string): RouteMount['handle'] =>
      async (ctx) =>
        void (ctx.body = body);
    host.contribute(reservedSegments, 'later');
    host.contribute(routes, {
      method: 'GET',
      path: '/notes/:id',
      description: TEST_ROUTE_DESCRIPTION,
      handle: (ctx) => void (ctx.body = 'note'),
    });
    receive({
      routing: host.use({ routing }).routing,
      addRoute: (path) =>
        host.contribute(routes, {
          method: 'GET',
          path,
          description: TEST_ROUTE_DESCRIPTION,
          handle: (ctx) => void (ctx.body = 'late'),
        }),
      addMount: (path, answer) => host.contribute(routeMounts, { path, handle: send(answer) }),
    });
  },
});

async function withServer(
  work: (hands: Hands, get: (path: string) => Promise<string>) => Promise<void>,
): Promise<void> {
  let hands: Hands | undefined;
  await withBootedTestPlugins(
    [author((received) => (hands = received))],
    async ({ kernel }) => {
      await kernel.migrate();
      await kernel.start();
      const { port } = await kernel.listen();
      const get = async (path: string) => {
        const reply = await fetch(`http://127.0.0.1:${port}${path}`);
        return reply.ok ? reply.text() : `${reply.status}`;
      };
      await work(hands as Hands, get);
    },
    { product: ['http'] },
  );
}

describe('routes and mounts of a running service', () => {
  it('routes answer from their contribution until its removal', async () => {
    await withServer(async ({ addRoute, addMount }, get) => {
      expect([await get('/late/1'), await get('/desk')]).to.deep.equal(['404', '404']);
      const remove = [addRoute('/late/:id'), addMount('/desk', 'desk')];
      expect([await get('/late/1'), await get('/DESK/x'), await get('/notes/1')]).to.deep.equal([
        'late',
        'desk',
        'note',
      ]);
      for (const one of remove) one();
      expect([await get('/late/1'), await get('/desk'), await get('/notes/1')]).to.deep.equal(['404', '404', 'note']);
    });
  });

  it('routes are tried in order: mounts get the requests that no route answers', async () => {
    await withServer(async ({ addMount }, get) => {
      addMount('/notes', 'mounted');
      expect([await get('/notes/1'), await get('/notes/1/more')]).to.deep.equal(['note', 'mounted']);
    });
  });

  it('routes claim their paths, as reserved segments do', async () => {
    await withServer(async ({ routing: { claimOf }, addMount, addRoute }) => {
      const claims = (...paths: string[]): readonly (PathClaimKind | undefined)[] => paths.map((path) => claimOf(path));
      expect(claims('/notes', '/Notes/a', '/later', '/utils/x', '/desk')).to.deep.equal([
        'route',
        'route',
        'reserved',
        'reserved',
        undefined,
      ]);
      // A contribution takes effect at once, without waiting for a later tick.
      addMount('/Desk', 'desk');
      const remove = addRoute('/late');
      expect(claims('/desk', '/desk/x', '/late')).to.deep.equal(['mount', undefined, 'route']);
      remove();
      expect(claims('/late')).to.deep.equal([undefined]);
    });
  });

  it('routes are refused outside of the prefixes in the manifest', async () => {
    const failure = await captureError(withServer(async ({ addRoute }) => void addRoute('/other')));
    expect(failure).to.include({ code: 'CAPABILITY_DENIED' });
  });

  it('routes cannot be contributed as mounts or reserved segments by third-party plugins', async () => {
    const thirdParty: TestPlugin = {
      name: 'third-party',
      thirdParty: true,
      manifest: { contributes: { 'http.mounts': {} } },
      register: (host) => void host.contribute(routeMounts, { path: '/x', handle: async () => {} }),
    };
    await withBootedTestPlugins(
      [thirdParty],
      async ({ kernel, log }) => {
        await kernel.migrate();
        expect(kernel.plugins.some(({ name }) => name === 'third-party')).to.equal(false);
        expect(log.map(({ msg }) => msg).join()).to.match(/http\.mounts refused: it is open to core plugins only/);
      },
      { product: ['http'], environment: { LOG_LEVEL: 'error', LOG_STYLE: 'raw' } },
    );
  });
});
