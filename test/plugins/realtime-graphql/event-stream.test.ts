import { expect } from 'chai';
import { createClient } from 'graphql-sse';
import { requestAsAdmin } from '../../http/test-users.ts';
import type { InProcessService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { dataOf, runOnce, startRealtimeService, watchFromNow } from './realtime-graphql-fixture.ts';

describe('GraphQL over server-sent events, with the client of graphql-sse', function () {
  this.timeout(120_000);
  let service: InProcessService;
  const aborts: AbortController[] = [];

  before(async () => {
    service = await startRealtimeService({ ACCESS_TOKEN_TTL: '4s', WEBSOCKETS_HEARTBEAT_PERIOD: '1' });
  });
  afterEach(() => {
    for (const abort of aborts.splice(0)) abort.abort();
  });
  after(() => service?.stop());

  const connect = (token = service.admin.token, retryAttempts = 0) =>
    createClient({ url: `${service.url}/graphql`, headers: { Authorization: `Bearer ${token}` }, retryAttempts });
  const sql = (text: string) => service.database.query(text);

  /** An event stream without a library: its response, and the text of its events so far. */
  async function open(query: string, headers: Record<string, string> = {}, method = 'GET') {
    const abort = new AbortController();
    aborts.push(abort);
    const url = `${service.url}/graphql${method === 'GET' ? `?query=${encodeURIComponent(query)}` : ''}`;
    const response = await fetch(url, {
      method,
      headers: {
        Accept: 'text/event-stream',
        Authorization: `Bearer ${service.admin.token}`,
        ...(method === 'POST' ? { 'Content-Type': 'application/json' } : {}),
        ...headers,
      },
      ...(method === 'POST' ? { body: JSON.stringify({ query }) } : {}),
      signal: abort.signal,
    });
    const stream = { response, text: '', isOver: false };
    void (async () => {
      const decoder = new TextDecoder();
      try {
        for await (const part of response.body ?? []) stream.text += decoder.decode(part, { stream: true });
      } catch {
        // The test has closed it.
      }
      stream.isOver = true;
    })();
    return { stream, abort };
  }

  it('a subscription gets a response for each changed row', async () => {
    const watched = await watchFromNow(connect(), 'subscription { author_mutated { key event data { name } } }');
    await requestAsAdmin(service, 'POST', '/items/author', { id: 100, name: 'Cat' });
    await watched.received(1);
    await requestAsAdmin(service, 'DELETE', '/items/author/100');
    expect(dataOf(await watched.received(2))).to.deep.equal([
      { author_mutated: { key: '100', event: 'create', data: { name: 'Cat' } } },
      { author_mutated: { key: '100', event: 'delete', data: null } },
    ]);
    watched.end();
  });

  it('queries and mutations are one response, and the stream is complete', async () => {
    expect(await runOnce(connect(), '{ author_by_id(id: 1) { name } }')).to.deep.equal({
      data: { author_by_id: { name: 'Ann' } },
    });
    const create = 'mutation { create_author_item(data: { name: "Dan" }) { name } }';
    expect(await runOnce(connect(), create)).to.deep.equal({ data: { create_author_item: { name: 'Dan' } } });
  });

  it('errors of a document are a response, since an event source shows no other', async () => {
    for (const [query, code] of [
      ['{', 'INVALID_PAYLOAD'],
      ['subscription { unknown_mutated { key } }', 'GRAPHQL_VALIDATION_EXCEPTION'],
    ] as const) {
      const { errors } = await runOnce(connect(), query);
      expect(errors[0].extensions.code, query).to.equal(code);
    }
  });

  it('a wrong token, and a mutation by GET, are refused by their status', async () => {
    const { stream } = await open('{ author { id } }', { Authorization: 'Bearer wrong' });
    expect(stream.response.status).to.equal(401);
    const mutation = await open('mutation { create_author_item(data: { name: "by GET" }) { name } }');
    expect([mutation.stream.response.status, mutation.stream.response.headers.get('allow')]).to.deep.equal([
      405,
      'POST',
    ]);
  });

  it('a browser that connects anew with its last id gets what it has missed', async () => {
    const query = 'subscription { author_mutated { data { name } } }';
    const { stream, abort } = await open(query);
    expect(stream.response.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
    expect(stream.response.headers.get('cache-control')).to.equal('no-store');
    await until(() => /^id: /m.test(stream.text));
    expect(stream.text).to.match(/^retry: [1-5]\d\d\d\n\n:\n\n/);
    await sql(`insert into author (id, name) values (200, 'seen')`);
    await until(() => stream.text.includes('seen'));
    abort.abort();
    await sql(`insert into author (id, name) values (201, 'missed')`);
    const last = [...stream.text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] as string;
    const { stream: again } = await open(query, { 'Last-Event-ID': last });
    await until(() => again.text.includes('data:'));
    const events = [...again.text.matchAll(/^event: next\ndata: (.*)$/gm)].map(([, data]) =>
      JSON.parse(data as string),
    );
    expect(events).to.deep.equal([{ data: { author_mutated: { data: { name: 'missed' } } } }]);
    const unknown = await open(query, { 'Last-Event-ID': 'nonsense' });
    await until(() => unknown.stream.text.includes('RESYNC') || unknown.stream.isOver);
    expect(unknown.stream.text).to.contain('"code":"RESYNC"');
  });

  it('a line break in a JSON value does not end a line of an event', async () => {
    const { stream } = await open('subscription { book_mutated { data { meta } } }', {}, 'POST');
    await until(() => /^id: /m.test(stream.text));
    await service.database.query(`update book set meta = $1 where id = 1`, ['{\n"a":\r\n[1,\n2]}']);
    await until(() => stream.text.includes('data:'));
    const [, data] = /^event: next\ndata: (.*)\n\n/m.exec(stream.text) as unknown as [string, string];
    expect(JSON.parse(data).data.book_mutated.data.meta).to.deep.equal({ a: [1, 2] });
  });

  it('an idle stream has comments, so that proxies keep it open', async () => {
    const { stream } = await open('subscription { author_mutated { key } }');
    await until(() => (stream.text.match(/^:$/gm) ?? []).length >= 2);
  });

  it('a stream ends without "complete" when its token expires, so that its client connects anew', async () => {
    const { email, password } = service.admin;
    const { body } = await service.request('POST', '/auth/login', { body: { email, password } });
    const { stream } = await open('subscription { author_mutated { key } }', {
      Authorization: `Bearer ${body.data.access_token}`,
    });
    await until(() => stream.isOver);
    expect(stream.response.status).to.equal(200);
    expect(stream.text).not.to.contain('event:');
  });

  it('the service stops without waiting for open streams', async () => {
    const other = await startRealtimeService({ SERVER_SHUTDOWN_TIMEOUT: '1h' });
    const headers = { Accept: 'text/event-stream', Authorization: `Bearer ${other.admin.token}` };
    const query = encodeURIComponent('subscription { author_mutated { key } }');
    const response = await fetch(`${other.url}/graphql?query=${query}`, { headers });
    const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    await reader.read();
    await other.stop();
    let text = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += Buffer.from(part.value);
    expect(text).not.to.contain('complete');
  });

  it('a service without subscriptions answers JSON, whatever is accepted', async () => {
    const system = await fetch(`${service.url}/graphql/system?query={__typename}`, {
      headers: { Accept: 'text/event-stream' },
    });
    expect(system.headers.get('content-type')).to.contain('application/json');
  });
});
