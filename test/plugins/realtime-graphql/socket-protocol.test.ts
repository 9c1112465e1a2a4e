import { once } from 'node:events';
import { expect } from 'chai';
import WebSocket from 'ws';
import { createUserWithPermissions, requestAsAdmin } from '../../http/test-users.ts';
import type { InProcessService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { connectSocket, runOnce, socketUrl, startRealtimeService, watch } from './realtime-graphql-fixture.ts';

const PROTOCOL = 'graphql-transport-ws';
const QUERY = '{ author(limit: 1, sort: ["id"]) { name } }';
const ANN = { data: { author: [{ name: 'Ann' }] } };

describe('the protocol of GraphQL sockets', function () {
  this.timeout(120_000);
  let service: InProcessService;
  const sockets: WebSocket[] = [];

  before(async () => {
    service = await startRealtimeService({
      ACCESS_TOKEN_TTL: '4s',
      WEBSOCKETS_GRAPHQL_AUTH_TIMEOUT: '1',
      WEBSOCKETS_SUBSCRIPTIONS_LIMIT: '20',
      WEBSOCKETS_MESSAGE_MAX_SIZE: '20kb',
      GRAPHQL_QUERY_TOKEN_LIMIT: '200',
      GRAPHQL_INTROSPECTION: 'false',
    });
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.terminate();
  });
  after(() => service?.stop());

  /** A socket without a library, and the messages it has received. */
  async function open({ path = '/graphql', protocol = PROTOCOL, headers = {} } = {}) {
    const socket = new WebSocket(socketUrl(service, path), protocol, { headers });
    sockets.push(socket);
    // biome-ignore lint/suspicious/noExplicitAny: messages of any shape
    const messages: any[] = [];
    let closed: [code: number, reason: string] | undefined;
    socket.on('message', (text) => void messages.push(JSON.parse(String(text))));
    socket.on('close', (code, reason) => {
      closed = [code, String(reason)];
    });
    await once(socket, 'open');
    return {
      messages,
      send: (message: unknown) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
      sendBytes: (bytes: Buffer) => socket.send(bytes),
      received: (count: number) => until(() => messages.length >= count && messages),
      closed: () => until(() => closed),
      isOpen: () => closed === undefined,
    };
  }

  async function openAsAdmin() {
    const socket = await open();
    socket.send({ type: 'connection_init', payload: { access_token: service.admin.token } });
    await socket.received(1);
    socket.messages.shift();
    return socket;
  }

  const subscribe = (id: string, query = QUERY, more: object = {}) => ({
    id,
    type: 'subscribe',
    payload: { query, ...more },
  });

  /** The status with which an upgrade is refused. */
  const refusalOf = async (
    path: string,
    { protocol = PROTOCOL, origin }: { protocol?: string; origin?: string } = {},
  ) => {
    const socket = new WebSocket(socketUrl(service, path), protocol, origin === undefined ? {} : { origin });
    sockets.push(socket);
    const [error] = (await once(socket, 'error')) as [Error];
    return Number(/\d+$/.exec(error.message)?.[0]);
  };

  describe('authentication', () => {
    it('a token in "connection_init", or in the upgrade, authenticates the connection', async () => {
      const byMessage = connectSocket(service, { token: service.admin.token });
      expect(await runOnce(byMessage, QUERY)).to.deep.equal(ANN);
      const byPath = connectSocket(service, { path: `/graphql?access_token=${service.admin.token}` });
      expect(await runOnce(byPath, QUERY)).to.deep.equal(ANN);
      await Promise.all([byMessage.dispose(), byPath.dispose()]);
    });

    it('a missing or wrong token in "connection_init" closes the socket with 4403', async () => {
      for (const payload of [
        undefined,
        {},
        { access_token: null },
        { access_token: 'wrong' },
        { access_token: 1 },
        { access_token: '' },
      ]) {
        const socket = await open();
        socket.send({ type: 'connection_init', payload });
        expect((await socket.closed())[0], JSON.stringify(payload)).to.equal(4403);
        expect(socket.messages).to.deep.equal([]);
      }
    });

    it('a wrong token in the upgrade is 401', async () => {
      expect(await refusalOf('/graphql?access_token=wrong')).to.equal(401);
    });

    it('pages of other origins are refused by 403', async () => {
      expect(await refusalOf('/graphql', { origin: 'https://evil.example' })).to.equal(403);
    });

    it('a client that offers no "graphql-transport-ws" is refused by 400', async () => {
      expect(await refusalOf('/graphql', { protocol: 'graphql-ws' })).to.equal(400);
    });

    it('a client without "connection_init" in time is closed with 4408', async () => {
      expect((await (await open()).closed())[0]).to.equal(4408);
    });

    it('an access token that expires closes the socket with 4403, and a client with a new token goes on', async () => {
      const { email, password } = service.admin;
      const login = async () =>
        (await service.request('POST', '/auth/login', { body: { email, password } })).body.data.access_token as string;
      const socket = await open();
      socket.send({ type: 'connection_init', payload: { access_token: await login() } });
      await socket.received(1);
      socket.send(subscribe('1', 'subscription { author_mutated { key } }'));
      expect(await socket.closed()).to.deep.equal([4403, 'TOKEN_EXPIRED']);
      const client = connectSocket(service, { token: await login() });
      expect(await runOnce(client, QUERY)).to.deep.equal(ANN);
      await client.dispose();
    });

    it('a user who is suspended loses the socket with 4403', async () => {
      const user = await createUserWithPermissions(service, [{ collection: 'author', action: 'read' }]);
      const client = connectSocket(service, { token: user.token });
      expect(await runOnce(client, QUERY)).to.deep.equal(ANN);
      const watched = watch(client, 'subscription { author_mutated { key } }');
      await requestAsAdmin(service, 'PATCH', `/users/${user.id}`, { status: 'suspended' });
      await until(async () => {
        await service.database.query(`update author set name = 'Ann' where id = 1`);
        return client.closed();
      });
      expect([client.closed()?.code, client.closed()?.reason]).to.deep.equal([4403, 'USER_SUSPENDED']);
      expect(watched.isComplete()).to.equal(false);
    });
  });

  describe('messages', () => {
    it('what is not of the protocol closes the socket of its sender, and no other one', async () => {
      const other = await openAsAdmin();
      const cases: [code: number, ...messages: unknown[]][] = [
        [4400, 'not JSON'],
        [4400, '[]'],
        [4400, { type: 'unknown' }],
        [4400, { type: 'subscribe', payload: { query: QUERY } }],
        [4400, { id: '1', type: 'subscribe', payload: {} }],
        [4400, { id: '1', type: 'subscribe', payload: { query: QUERY, variables: [] } }],
        [4429, { type: 'connection_init', payload: { access_token: service.admin.token } }],
        [4409, subscribe('1', 'subscription { author_mutated { key } }'), subscribe('1')],
        [1009, subscribe('1', `{ author { name ${'x'.repeat(30_000)} } }`)],
      ];
      for (const [code, ...messages] of cases) {
        const socket = await openAsAdmin();
        for (const message of messages) socket.send(message);
        expect((await socket.closed())[0], JSON.stringify(messages).slice(0, 100)).to.equal(code);
      }
      const bytes = await openAsAdmin();
      bytes.sendBytes(Buffer.from('{}'));
      expect((await bytes.closed())[0]).to.equal(4400);
      const early = await open();
      early.send(subscribe('1'));
      expect((await early.closed())[0]).to.equal(4401);
      other.send(subscribe('1'));
      expect((await other.received(2))[0]).to.deep.equal({ id: '1', type: 'next', payload: ANN });
    });

    it('a hostile document is an error of its operation, with the limits and codes of HTTP', async () => {
      const socket = await openAsAdmin();
      const documents: [query: string, code: string][] = [
        ['{', 'INVALID_PAYLOAD'],
        ['', 'INVALID_PAYLOAD'],
        [`{ author { ${'name '.repeat(300)} } }`, 'INVALID_PAYLOAD'],
        [`subscription { author_mutated { data ${'{ name'.repeat(150)} ${'}'.repeat(150)} } }`, 'INVALID_PAYLOAD'],
        ['{ __schema { types { name } } }', 'GRAPHQL_VALIDATION_EXCEPTION'],
        ['subscription { unknown_mutated { key } }', 'GRAPHQL_VALIDATION_EXCEPTION'],
        ['subscription { author_mutated { key } book_mutated { key } }', 'GRAPHQL_VALIDATION_EXCEPTION'],
        ['subscription { __typename }', 'GRAPHQL_VALIDATION_EXCEPTION'],
        ['subscription { author_mutated(event: drop) { key } }', 'GRAPHQL_VALIDATION_EXCEPTION'],
        ['subscription ($e: EventEnum!) { author_mutated(event: $e) { key } }', 'GRAPHQL_VALIDATION_EXCEPTION'],
        ['subscription { line_mutated { key } }', 'GRAPHQL_VALIDATION_EXCEPTION'],
        [
          'subscription A { author_mutated { key } } subscription B { author_mutated { key } }',
          'GRAPHQL_VALIDATION_EXCEPTION',
        ],
        [
          'subscription { author_mutated { ...f } } fragment f on author_mutated { ...f }',
          'GRAPHQL_VALIDATION_EXCEPTION',
        ],
      ];
      for (const [at, [query, code]] of documents.entries()) {
        socket.send(subscribe(String(at), query));
        const [message] = await socket.received(1);
        socket.messages.length = 0;
        expect([message.id, message.type, message.payload[0].extensions.code], query.slice(0, 80)).to.deep.equal([
          String(at),
          'error',
          code,
        ]);
      }
      socket.send(subscribe('nul', QUERY, { variables: { a: 'a\0' } }));
      expect((await socket.received(1))[0].payload[0].extensions.code).to.equal('INVALID_PAYLOAD');
      socket.messages.length = 0;
      socket.send(subscribe('x'.repeat(300)));
      expect((await socket.received(1))[0].payload[0].extensions.code).to.equal('INVALID_PAYLOAD');
      socket.messages.length = 0;
      socket.send(subscribe('still here'));
      expect((await socket.received(2))[0].payload).to.deep.equal(ANN);
    });

    it('subscriptions over the limit of a connection are errors, and those within it go on', async () => {
      const socket = await openAsAdmin();
      const query = 'subscription { author_mutated { key } }';
      for (let at = 1; at <= 21; at++) {
        socket.send(subscribe(String(at), query, { extensions: { since: null } }));
        const last = (await socket.received(at)).at(-1);
        if (at <= 20) expect(last).to.deep.include({ id: String(at), type: 'next' });
        else expect([last.type, last.payload[0].extensions.code]).to.deep.equal(['error', 'REQUESTS_EXCEEDED']);
      }
      socket.messages.length = 0;
      socket.send({ id: '1', type: 'complete' });
      await service.database.query(`update author set name = 'Ann' where id = 1`);
      const ids = (await socket.received(19)).map(({ id }) => Number(id)).sort((left, right) => left - right);
      expect(ids).to.deep.equal(Array.from({ length: 19 }, (_, at) => at + 2));
    });

    it('operations that run at the same time are bounded, and are free again when they end', async () => {
      await service.database.query('create view nap as select 1 as id, pg_sleep(0.5)::text as text');
      const socket = await openAsAdmin();
      for (let at = 1; at <= 25; at++) socket.send(subscribe(String(at), '{ nap { id } }'));
      const refused = (await socket.received(15)).filter(({ type }) => type === 'error');
      expect(refused.map(({ payload }) => payload[0].extensions.code)).to.deep.equal(
        Array(15).fill('REQUESTS_EXCEEDED'),
      );
      for (let at = 1; at <= 10; at++) socket.send({ id: String(at), type: 'complete' });
      socket.messages.length = 0;
      await until(async () => {
        socket.send(subscribe('again'));
        return (await socket.received(1)).splice(0)[0].type === 'next';
      });
    });

    it('a ping is answered by a pong, whatever its payload is', async () => {
      const socket = await open();
      socket.send({ type: 'ping', payload: { a: 1 } });
      socket.send(`{"type":"ping","payload":${'{"a":'.repeat(3000)}1${'}'.repeat(3001)}`);
      expect(await socket.received(2)).to.deep.equal([{ type: 'pong' }, { type: 'pong' }]);
    });
  });

  it('/server/info shows the transport', async () => {
    const { websocket } = await requestAsAdmin(service, 'GET', '/server/info');
    expect(websocket.graphql).to.deep.equal({ authentication: 'handshake', path: '/graphql' });
  });
});
