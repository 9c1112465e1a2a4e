import { expect } from 'chai';
import { openAuthenticated, openSocket, type RealtimeTestClient, refusedStatus } from '../support/realtime-client.ts';
import type { InProcessService } from '../support/service.ts';
import { createNotes, startRealtimeService, subscribeTo } from './realtime-fixture.ts';
import { requestAsAdmin } from './test-users.ts';

describe('hostile clients of the REST-style socket', function () {
  this.timeout(60_000);
  let service: InProcessService;
  let bystander: RealtimeTestClient;
  const open: RealtimeTestClient[] = [];
  const connect = async () => {
    const client = await openAuthenticated(service.url, service.admin.token);
    open.push(client);
    return client;
  };
  const isServer = ({ type }: { type: string }) => type === 'server';

  before(async () => {
    service = await startRealtimeService({
      ...{ WEBSOCKETS_MESSAGE_MAX_SIZE: '10kb', WEBSOCKETS_MESSAGES_LIMIT: '40', WEBSOCKETS_SUBSCRIPTIONS_LIMIT: '20' },
      ...{ WEBSOCKETS_PUBLIC_CONN_LIMIT: '20', WEBSOCKETS_REST_AUTH: 'public', LOG_LEVEL: 'info' },
    });
    bystander = await subscribeTo(service, service.admin.token, { collection: 'note', query: { fields: 'title' } });
  });
  afterEach(async () => {
    for (const client of open.splice(0)) client.close();
    // No other client notices.
    const title = `t${Math.random()}`;
    await createNotes(service).create({ title });
    await bystander.next(({ event, data }) => event === 'create' && data[0].title === title);
  });
  after(async () => {
    bystander?.close();
    await service?.stop();
  });

  it('get an error for each message that is not one', async () => {
    const client = await connect();
    for (const text of ['', 'no json', '[]', '1', 'null', '"text"', '{}', '{"type":1}', '{"type":"ping","uid":{}}']) {
      client.send(text === '' ? ' ' : text);
      expect((await client.next(isServer)).error.code, text).to.equal('INVALID_PAYLOAD');
    }
    client.socket.send(Buffer.from([1, 2, 3]), { binary: true });
    expect((await client.next(isServer)).error.code).to.equal('INVALID_PAYLOAD');
    client.send({ type: 'unknown' });
    client.send({ type: 'pong' });
    await client.settle();
    expect(client.closeCode).to.equal(undefined);
  });

  it('are closed for a message that is too large', async () => {
    const client = await connect();
    client.send({ type: 'ping', uid: 'x'.repeat(20_000) });
    expect(await client.closed()).to.equal(1009);
  });

  it('get REQUESTS_EXCEEDED for too many messages, and are closed when they go on', async () => {
    const client = await connect();
    for (let at = 0; at < 100; at++) client.send({ type: 'ping' });
    expect((await client.next(isServer)).error.code).to.equal('REQUESTS_EXCEEDED');
    for (let at = 0; at < 2000; at++) client.send({ type: 'ping' });
    expect(await client.closed()).to.be.oneOf([1006, 1008]);
  });

  it('get REQUESTS_EXCEEDED for too many subscriptions', async () => {
    const client = await connect();
    const codes: unknown[] = [];
    for (let at = 0; at < 21; at++) {
      const answer = await client.ask({ type: 'subscribe', collection: 'note', uid: `s${at}`, event: 'delete' });
      codes.push(answer.error?.code ?? answer.event);
    }
    expect(codes.slice(-2)).to.deep.equal(['init', 'REQUESTS_EXCEEDED']);
  });

  it('get an error for queries that are too deep, too long or nonsense', async () => {
    const client = await connect();
    let filter: object = { title: { _eq: 'x' } };
    for (let at = 0; at < 200; at++) filter = { _and: [filter] };
    const queries = [
      { filter },
      { fields: 'parent.'.repeat(60).concat('id') },
      { filter: '{"title":' },
      { search: {} },
      { limit: 'many' },
      { deep: 'x' },
    ];
    for (const query of queries) {
      const answer = await client.ask({ type: 'subscribe', collection: 'note', query });
      expect(answer.error?.code, JSON.stringify(query).slice(0, 80)).to.be.oneOf(['INVALID_QUERY', 'FORBIDDEN']);
    }
  });

  it('without credentials have a quarter of the connections of the public from one address', async () => {
    const sockets = await Promise.all(Array.from({ length: 5 }, () => openSocket(service.url)));
    open.push(...sockets);
    expect(await refusedStatus(service.url)).to.equal(403);
    // Clients that authenticate make room.
    await sockets[0]?.ask({ type: 'auth', access_token: service.admin.token });
    open.push(await openSocket(service.url));
  });

  it('that read nothing get the latest state of a row when they read', async () => {
    const client = await subscribeTo(service, service.admin.token, {
      collection: 'note',
      query: { fields: 'id,title' },
    });
    open.push(client);
    const stream = (client.socket as unknown as { _socket: { pause(): void; resume(): void } })._socket;
    const row = await createNotes(service).create({ title: 'x' });
    await client.next(({ event }) => event === 'create');
    stream.pause();
    for (let at = 0; at < 400; at++)
      await service.database.query(`update note set title = repeat($2, 100000) where id = $1`, [
        row.id,
        String(at % 10),
      ]);
    await service.database.query(`update note set title = 'last' where id = $1`, [row.id]);
    stream.resume();
    await client.next(({ data }) => data?.[0]?.title === 'last');
    // What the buffers of the operating system hold comes first; the rest was merged.
    expect(client.messages.length).to.be.below(300);
    await bystander.next(({ data }) => data?.[0]?.title === 'last');
    await requestAsAdmin(service, 'DELETE', `/items/note/${row.id}`);
  });

  it('write no line to the log', () => {
    const lines = service.log.filter(({ level }) => Number(level) >= 40);
    expect(lines).to.deep.equal([]);
  });
});
