import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { Host } from '#kernel';
import { decompressExplorerFile } from '../../../../plugins/graphql/explorer/assets.ts';
import { buildExplorerBundle, type ExplorerBundle } from '../../../../plugins/graphql/explorer/bundle.ts';
import { createGraphqlExplorer } from '../../../../plugins/graphql/explorer/explorer.ts';
import { routes } from '../../../../plugins/http/contract.ts';
import { TEST_ROUTE_DESCRIPTION } from '../../../support/route-descriptions.ts';
import { createSender, type SendRequest } from '../../../support/send.ts';
import { type BootedKernel, withBootedTestPlugins } from '../../../support/test-plugins.ts';

const HTML = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const BUNDLE: ExplorerBundle = {
  script: 'explorer-AAAAAAAA.js',
  style: 'explorer-BBBBBBBB.css',
  workers: { editor: 'editor-CCCCCCCC.js' },
  files: new Map([['explorer-AAAAAAAA.js', gzipSync("console.log('ä')")]]),
};

interface Setting {
  readonly build: () => Promise<ExplorerBundle>;
  readonly introspection?: boolean;
}

interface Served {
  readonly request: SendRequest;
  readonly url: string;
  readonly log: BootedKernel['log'];
}

/** Serves the explorer page to clients that prefer HTML, on routes that answer other clients with JSON. */
const withExplorer = (
  { build, introspection = true }: Setting,
  work: (withExplorer: Served) => Promise<void>,
): Promise<void> =>
  withBootedTestPlugins(
    [
      {
        name: 'door',
        manifest: { contributes: { 'http.routes': { prefixes: ['/graphql'] } }, capabilities: { log: true } },
        register(host: Host) {
          const explorer = createGraphqlExplorer({ introspection, log: host.log, build });
          for (const route of explorer.routes) host.contribute(routes, route);
          for (const [scope, path] of [
            ['items', '/graphql'],
            ['system', '/graphql/system'],
          ] as const) {
            host.contribute(routes, {
              method: 'GET',
              path,
              description: TEST_ROUTE_DESCRIPTION,
              async handle(ctx) {
                if (explorer.acceptsPage(ctx)) await explorer.sendPage(ctx, scope);
                else ctx.body = { data: null };
              },
            });
          }
        },
      },
    ],
    async ({ kernel, log }) => {
      await kernel.migrate();
      await kernel.start();
      const { port } = await kernel.listen();
      const url = `http://127.0.0.1:${port}`;
      await work({ request: createSender(url), url, log });
    },
    { product: ['http'], environment: { LOG_LEVEL: 'info' } },
  );

const ready = async () => BUNDLE;

describe('the GraphQL explorer page', () => {
  it('the page is sent to clients that prefer HTML; others get data', () =>
    withExplorer({ build: ready }, async ({ request }) => {
      const typeFor = async (accept: string) =>
        (await request('GET', '/graphql', { headers: { accept } })).headers.get('content-type');
      for (const accept of [HTML.accept, 'text/html', 'text/*', 'application/json;q=0.5, text/html']) {
        expect(await typeFor(accept), accept).to.equal('text/html; charset=utf-8');
      }
      for (const accept of [
        '*/*',
        'application/json',
        'application/graphql-response+json',
        'application/json, text/html',
        'text/html;q=0.5, application/graphql-response+json',
        'image/png',
      ]) {
        expect(await typeFor(accept), accept).to.equal('application/json; charset=utf-8');
      }
    }));

  it('the page has no body for HEAD', () =>
    withExplorer({ build: ready }, async ({ request }) => {
      const { status, headers, body } = await request('HEAD', '/graphql', { headers: HTML });
      expect([status, headers.get('content-type'), body]).to.deep.equal([200, 'text/html; charset=utf-8', undefined]);
    }));

  it('the page allows scripts, workers and data from its own origin only, and no frames', () =>
    withExplorer({ build: ready }, async ({ request }) => {
      const { headers, body } = await request('GET', '/graphql', { headers: HTML });
      const policy = new Map(
        (headers.get('content-security-policy') as string).split('; ').map((part) => {
          const [name, ...sources] = part.split(' ');
          return [name, sources.join(' ')];
        }),
      );
      expect(policy.get('default-src')).to.equal("'none'");
      for (const name of ['script-src', 'worker-src', 'connect-src']) expect(policy.get(name), name).to.equal("'self'");
      for (const name of ['base-uri', 'form-action', 'frame-ancestors'])
        expect(policy.get(name), name).to.equal("'none'");
      expect(headers.get('x-frame-options')).to.equal('DENY');
      expect(headers.get('vary')).to.match(/\bAccept\b/);
      expect(body).not.to.match(/https?:|<script(?! type="module" src=)|\son\w+=|\sstyle=/);
    }));

  it('the page contains nothing of the request', () =>
    withExplorer({ build: ready }, async ({ request }) => {
      const plain = await request('GET', '/graphql', { headers: HTML });
      const query = encodeURIComponent('</script><script>alert(1)</script>"\'');
      const filledIn = await request('GET', `/graphql?query=${query}&variables=${query}&${query}`, { headers: HTML });
      expect(filledIn.body).to.equal(plain.body);
    }));

  it('the page has relative URLs that work below any path', () =>
    withExplorer({ build: ready }, async ({ request }) => {
      for (const path of ['/graphql', '/graphql/', '/graphql/system', '/graphql/system/']) {
        const { body } = await request('GET', path, { headers: HTML });
        const [, src] = /<script type="module" src="([^"]+)"/.exec(body) as unknown as [string, string];
        expect(new URL(src, `https://example.com/below${path}`).pathname, path).to.equal(
          `/below/graphql/explorer/${BUNDLE.script}`,
        );
        expect(body).to.include(`data-scope="${path.includes('system') ? 'system' : 'items'}"`);
      }
    }));

  it('the page is built once for all concurrent requests', async () => {
    let builds = 0;
    const build = async () => {
      builds++;
      await new Promise((resolve) => setImmediate(resolve));
      return BUNDLE;
    };
    await withExplorer({ build }, async ({ request }) => {
      const all = await Promise.all([
        ...Array.from({ length: 5 }, () => request('GET', '/graphql', { headers: HTML })),
        request('GET', `/graphql/explorer/${BUNDLE.script}`),
      ]);
      expect(all.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200, 200]);
      expect(builds).to.equal(1);
    });
  });

  it('answers SERVICE_UNAVAILABLE when it cannot be built, and the next request builds again', async () => {
    let tries = 0;
    const build = async () => {
      if (tries++ === 0) throw new Error('no such package');
      return BUNDLE;
    };
    await withExplorer({ build }, async ({ request, log }) => {
      const failed = await request('GET', '/graphql', { headers: HTML });
      expect([failed.status, failed.body.errors[0].extensions.code]).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
      expect(JSON.stringify(failed.body)).not.to.include('no such package');
      expect(JSON.stringify(log)).to.include('no such package');
      expect((await request('GET', '/graphql', { headers: HTML })).status).to.equal(200);
    });
  });

  it('the page is not served without introspection, nor are its files', () =>
    withExplorer({ build: ready, introspection: false }, async ({ request }) => {
      const { headers } = await request('GET', '/graphql', { headers: HTML });
      expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
      expect((await request('GET', `/graphql/explorer/${BUNDLE.script}`)).status).to.equal(404);
    }));

  describe('files', () => {
    it('files are immutable for browsers, and compressed for clients that accept gzip', () =>
      withExplorer({ build: ready }, async ({ request }) => {
        const path = `/graphql/explorer/${BUNDLE.script}`;
        const zipped = await request('GET', path, { headers: { 'accept-encoding': 'gzip' } });
        const plain = await request('GET', path, { headers: { 'accept-encoding': 'identity' } });
        expect([zipped.headers.get('content-encoding'), plain.headers.get('content-encoding')]).to.deep.equal([
          'gzip',
          null,
        ]);
        for (const { body, headers } of [zipped, plain]) {
          expect(body).to.equal("console.log('ä')");
          expect(headers.get('content-type')).to.equal('text/javascript; charset=utf-8');
          expect(headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
          expect(headers.get('vary')).to.match(/\bAccept-Encoding\b/);
          expect(headers.get('x-content-type-options')).to.equal('nosniff');
        }
      }));

    it('files are decompressed once for all clients without gzip', async () => {
      const file = BUNDLE.files.get('explorer-AAAAAAAA.js') as Uint8Array;
      const [one, other] = await Promise.all([decompressExplorerFile(file), decompressExplorerFile(file)]);
      expect(one.toString()).to.equal("console.log('ä')");
      expect(other).to.equal(one);
      expect(await decompressExplorerFile(file)).to.equal(one);
    });

    it('files are only those of the bundle', () =>
      withExplorer({ build: ready }, async ({ request }) => {
        for (const name of [
          'explorer-ZZZZZZZZ.js',
          '..%2f..%2fpackage.json',
          '..%2fexplorer.js',
          '%2e%2e/%2e%2e/main.js',
          'constructor',
          '__proto__.js',
          'client/main.jsx',
        ]) {
          expect((await request('GET', `/graphql/explorer/${name}`)).status, name).to.equal(404);
        }
      }));
  });

  describe('the bundle of the packages', () => {
    let bundle: ExplorerBundle;
    before(async () => {
      bundle = await buildExplorerBundle();
    });

    it('the bundle contains every file that another file refers to', () => {
      const texts = [...bundle.files]
        .filter(([name]) => /\.(js|css)$/.test(name))
        .map(([, file]) => gunzipSync(file).toString());
      const named = new Set(
        texts.flatMap((text) => text.match(/(?<=["'(]\.\/)[\w-]+-[A-Z0-9]{8}\.(?:js|css|ttf)/g) ?? []),
      );
      for (const name of [bundle.script, bundle.style, ...Object.values(bundle.workers)]) named.add(name);
      expect([...named].filter((name) => !bundle.files.has(name))).to.deep.equal([]);
      expect(named.size).to.be.greaterThan(20);
    });

    it('the bundle is identical in each build, so that several processes serve one page', async () => {
      expect([...(await buildExplorerBundle()).files.keys()].sort()).to.deep.equal([...bundle.files.keys()].sort());
    });
  });
});
