import { once } from 'node:events';
import { expect } from 'chai';
import { type RequestEnd, requestObservers, routes } from '../../../plugins/http/contract.ts';
import { sendData, sendStream } from '../../../plugins/http/library.ts';
import { TEST_ROUTE_DESCRIPTION } from '../../support/route-descriptions.ts';
import { createSender, type SendRequest } from '../../support/send.ts';
import { type TestPlugin, withBootedTestPlugins } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';

const author: TestPlugin = {
  name: 'author',
  manifest: { contributes: { 'http.routes': { prefixes: ['/notes'] } } },
  register(host) {
    host.contribute(routes, {
      method: 'GET',
      path: '/notes/:id',
      description: TEST_ROUTE_DESCRIPTION,
      handle(ctx) {
        if (ctx.params.id === 'broken') throw new Error('broken');
        ctx.body = 'note';
      },
    });
  },
};

type Line = Readonly<Record<string, unknown>>;

/** Sends requests by `work`, and returns the lines of requests in the log. */
const linesAfter = (share: string, work: (request: SendRequest) => Promise<unknown>): Promise<readonly Line[]> =>
  withBootedTestPlugins(
    [author],
    async ({ kernel, log }) => {
      await kernel.migrate();
      await kernel.start();
      const { port } = await kernel.listen();
      await work(createSender(`http://127.0.0.1:${port}`));
      await until(async () => log.some(({ path }) => path === '/notes/broken'));
      return log.filter(({ msg }) => msg === 'request') as readonly Line[];
    },
    { product: ['http'], environment: { LOG_LEVEL: 'info', LOG_HTTP_SAMPLE_RATE: share } },
  );

const sendNotes = async (request: SendRequest, count: number): Promise<void> => {
  for (let at = 0; at < count; at++) await request('GET', `/notes/${at}?token=hidden`);
  await request('GET', '/notes/broken');
};

describe('the log line of a request', () => {
  it('names the template of its route and the plugin that answers, also of one that fails', async () => {
    const lines = await linesAfter('1', (request) => sendNotes(request, 1));
    const about = { method: 'GET', route: '/notes/:id', routeOwner: 'author', ip: '127.0.0.1', user: null };
    expect(lines[0]).to.include({ ...about, path: '/notes/0?token=--redact--', status: 200 });
    expect(lines[1]).to.include({ ...about, path: '/notes/broken', status: 500 });
    expect(lines[0]).not.to.have.property('sampleRate');
  });

  it('has no route for an unknown path', async () => {
    const lines = await linesAfter('1', async (request) => {
      await request('GET', '/nothing');
      await request('GET', '/notes/%E0%A4%A');
      await request('GET', '/notes/broken');
    });
    expect(lines.map(({ status, route }) => [status, route])).to.deep.equal([
      [404, undefined],
      [400, undefined],
      [500, '/notes/:id'],
    ]);
  });

  it('is written for the share LOG_HTTP_SAMPLE_RATE of the requests, with that share, and for each failure', async () => {
    const half = await linesAfter('0.5', (request) => sendNotes(request, 200));
    const [broken, ...sampled] = [...half].reverse();
    expect(broken).to.include({ status: 500 }).and.not.have.property('sampleRate');
    // Fewer than forty or more than 160 of 200 have a chance of one in ten to the eighteenth.
    expect(sampled.length).to.be.within(40, 160);
    for (const line of sampled) expect(line).to.include({ sampleRate: 0.5, status: 200 });
    expect(await linesAfter('0', (request) => sendNotes(request, 20))).to.have.length(1);
  });
});

describe('a request whose client disconnects before its answer', () => {
  /** The line and the ends of the request, whose route calls `answer` when its client has left. */
  async function endOf(kind: 'stream' | 'data') {
    const ends: RequestEnd[] = [];
    const client = new AbortController();
    let isReturned = false;
    async function* parts() {
      try {
        yield 'part';
        yield 'further part';
      } finally {
        isReturned = true;
      }
    }
    const leaving: TestPlugin = {
      name: 'leaving',
      manifest: { contributes: { 'http.routes': { prefixes: ['/notes'] }, 'http.observers': {} } },
      register(host) {
        host.contribute(requestObservers, { begin: () => ({ end: (end) => void ends.push(end) }) });
        host.contribute(routes, {
          method: 'POST',
          path: '/notes',
          description: TEST_ROUTE_DESCRIPTION,
          async handle(ctx) {
            client.abort();
            await once(ctx.res, 'close');
            if (kind === 'data') sendData(ctx, 'late');
            else await sendStream(ctx, parts(), { type: 'text/plain' });
          },
        });
      },
    };
    return withBootedTestPlugins(
      [leaving],
      async ({ kernel, log }) => {
        await kernel.migrate();
        await kernel.start();
        const { port } = await kernel.listen();
        await fetch(`http://127.0.0.1:${port}/notes`, { method: 'POST', signal: client.signal }).catch(() => {});
        const lines = () => log.filter(({ msg }) => msg === 'request');
        await until(async () => lines().length > 0 && (kind === 'data' || isReturned));
        return { ends, lines: lines() };
      },
      { product: ['http'], environment: { LOG_LEVEL: 'info' } },
    );
  }

  for (const [kind, title] of [
    ['stream', 'a stream'],
    ['data', 'a whole body'],
  ] as const)
    it(`ends and is logged once with status 499 where ${title} was to be sent`, async () => {
      const { ends, lines } = await endOf(kind);
      expect(ends.map(({ status, route }) => [status, route?.path])).to.deep.equal([[499, '/notes']]);
      expect(lines).to.have.length(1);
      expect(lines[0]).to.include({ path: '/notes', status: 499, ip: '127.0.0.1' });
    });
});
