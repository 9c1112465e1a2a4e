import { once } from 'node:events';
import { expect } from 'chai';
import WebSocket from 'ws';
import type { InProcessService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { connectSocket, socketUrl, startRealtimeService, watchFromNow } from './realtime-graphql-fixture.ts';

const WRITES = 300;
const SIZE = 100_000;
const QUERY = 'subscription { author_mutated(event: update) { key data { name } } }';
const LAST = `version ${WRITES} `;

describe('slow clients of GraphQL subscriptions', function () {
  this.timeout(120_000);
  let service: InProcessService;
  before(async () => {
    service = await startRealtimeService();
  });
  after(() => service?.stop());

  /** Updates a row many times, while another client reads everything. */
  async function writeMuch(): Promise<void> {
    const reader = connectSocket(service, { token: service.admin.token });
    const watched = await watchFromNow(reader, QUERY);
    for (let version = 1; version <= WRITES; version++)
      await service.database.query(`update author set name = $1 where id = 1`, [
        `version ${version} `.padEnd(SIZE, '.'),
      ]);
    await until(() => watched.responses.at(-1)?.data.author_mutated.data.name.startsWith(LAST));
    await reader.dispose();
  }

  /** Much less than everything, and more than what the operating system holds for a connection. */
  const MOST = (WRITES * SIZE) / 2;

  it('a socket that does not read gets the last state of a row instead of all states', async () => {
    const socket = new WebSocket(socketUrl(service), 'graphql-transport-ws');
    const texts: string[] = [];
    socket.on('message', (data) => void texts.push(String(data)));
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'connection_init', payload: { access_token: service.admin.token } }));
    await until(() => texts.length === 1);
    const payload = { query: QUERY, extensions: { since: null } };
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload }));
    await until(() => texts.length === 2);
    socket.pause();
    await writeMuch();
    socket.resume();
    await until(() => texts.at(-1)?.includes(LAST));
    expect(texts.join('').length).to.be.below(MOST);
    socket.terminate();
  });

  it('a socket whose responses are not read gets no more of them, and a list that is too long is an error', async () => {
    await service.database.query(`insert into line select repeat('long ', 20000) from generate_series(1, 50)`);
    const socket = new WebSocket(socketUrl(service), 'graphql-transport-ws');
    // biome-ignore lint/suspicious/noExplicitAny: messages of any shape
    const messages: any[] = [];
    socket.on('message', (data) => void messages.push(JSON.parse(String(data))));
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'connection_init', payload: { access_token: service.admin.token } }));
    await until(() => messages.length === 1);
    const ask = (id: string, limit: number) =>
      socket.send(JSON.stringify({ id, type: 'subscribe', payload: { query: `{ line(limit: ${limit}) { text } }` } }));
    ask('all', -1);
    const { type, payload } = await until(() => messages.find(({ id }) => id === 'all'));
    expect([type, payload[0].extensions.code]).to.deep.equal(['error', 'INVALID_QUERY']);
    socket.pause();
    for (let at = 0; at < 40; at++) ask(String(at), 30);
    socket.resume();
    const codes = () => messages.filter((one) => one.type === 'error').map((one) => one.payload[0].extensions.code);
    await until(() => messages.filter((one) => one.type !== 'complete').length >= 42);
    expect(codes().filter((code) => code === 'REQUESTS_EXCEEDED').length).to.be.above(0);
    socket.terminate();
  });

  it('an event stream that is not read has the last state of a row instead of all states', async () => {
    const abort = new AbortController();
    const response = await fetch(`${service.url}/graphql?query=${encodeURIComponent(QUERY)}`, {
      headers: { Accept: 'text/event-stream', Authorization: `Bearer ${service.admin.token}` },
      signal: abort.signal,
    });
    const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    await writeMuch();
    let text = '';
    while (!text.includes(LAST)) text += Buffer.from((await reader.read()).value as Uint8Array);
    expect(text.length).to.be.below(MOST);
    abort.abort();
  });
});
