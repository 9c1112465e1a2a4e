import { expect } from 'chai';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { createPackageFolder, createPackageJson, type PackageFolder } from '../plugins/extensions/package-folder.ts';
import { openAuthenticated, openSocket, refusedStatus } from '../support/realtime-client.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type ConfinedPackageFolder, createConfinedPackageFolder, listExtensions } from './confined-packages.ts';
import { createUserWithPermissions, requestAsAdmin, type TestUserWithToken } from './test-users.ts';

const ACTIONS = ['connect', 'message', 'close', 'error', 'auth.success', 'auth.failure'];

/** Keeps what it receives; a message (or `connection_init`) with `badge` names a caller. */
const LISTENER = `export default ({ filter, action }, { exceptions }) => {
  const received = (globalThis.tenonSocketEvents ??= []);
  for (const name of ${JSON.stringify(ACTIONS)})
    action('websocket.' + name, ({ event, message, client }, { accountability }) =>
      void received.push({ event, message, transport: client.transport, user: accountability?.user ?? null }));
  filter('websocket.message', (message, { client }) => {
    received.push({ event: 'filter', message });
    if (message.type === 'greet') client.send({ type: 'greeting' });
    return message.type === 'old-ping' ? { ...message, type: 'ping' } : message;
  });
  filter('websocket.authenticate', (accountability, { message }) => {
    received.push({ event: 'authenticate', type: message.type, members: Object.keys(message).sort() });
    const badge = message.badge ?? (message.access_token?.startsWith('badge:') ? JSON.parse(message.access_token.slice(6)) : undefined);
    const failure = badge !== undefined && globalThis.tenonBadgesThrow;
    if (failure) throw new (exceptions[failure] ?? Error)('the badge has expired');
    return badge === undefined || globalThis.tenonBadgesEnd ? undefined : { ...accountability, ...badge };
  });
};`;

interface ReceivedEvent {
  readonly event: string;
  readonly [member: string]: unknown;
}

interface Shared {
  tenonSocketEvents?: ReceivedEvent[];
  tenonBadgesEnd?: boolean;
  /** What is thrown for each badge: the name of a class of exceptions. */
  tenonBadgesThrow?: string | undefined;
}
const shared = globalThis as Shared;
const received = (): ReceivedEvent[] => (shared.tenonSocketEvents ??= []);

const ENV = { WEBSOCKETS_ENABLED: 'true' };

describe('events of sockets', function () {
  this.timeout(120_000);

  describe('for code with full authority', () => {
    let place: PackageFolder;
    let service: InProcessService;
    let user: TestUserWithToken;

    before(async () => {
      const name = 'service-extension-sockets';
      place = await createPackageFolder({
        [`${name}/package.json`]: createPackageJson(name, { type: 'hook', path: 'index.js' }),
        [`${name}/index.js`]: LISTENER,
      });
      service = await startService({ env: { ...ENV, EXTENSIONS_PATH: place.path, LOG_LEVEL: 'error' } });
      await service.database.query(
        "create table note (id serial primary key, text text); insert into note (text) values ('a')",
      );
      user = await createUserWithPermissions(service, [{ collection: 'note', action: 'read' }]);
    });
    after(async () => {
      await service?.stop();
      await place?.remove();
    });
    beforeEach(() => {
      received().splice(0);
      shared.tenonBadgesEnd = false;
      shared.tenonBadgesThrow = undefined;
    });

    const badge = () => ({ user: user.id, role: user.role });
    const named = (name: string) => received().filter(({ event }) => event === name);
    /** The answer of a suspension waits until the process has received the announcement. */
    const changeRights = async () => {
      const { id } = await createUserWithPermissions(service, []);
      await requestAsAdmin(service, 'PATCH', `/users/${id}`, { status: 'suspended' });
    };
    const read = { type: 'items', action: 'read', collection: 'note', uid: 'r' };

    it('"connect", "message" and "close" tell the client, and what it sent', async () => {
      const client = await openAuthenticated(service.url, user.token);
      await client.ask({ type: 'ping', uid: 'p' });
      client.close();
      await until(() => named('websocket.close').length > 0);
      const events = received().filter(({ event }) => event.startsWith('websocket.'));
      expect(events.map(({ event }) => event)).to.deep.equal([
        'websocket.connect',
        'websocket.auth.success',
        'websocket.message',
        'websocket.close',
      ]);
      expect(events.map(({ transport }) => transport)).to.deep.equal(['rest', 'rest', 'rest', 'rest']);
      expect(events[1]?.user).to.equal(user.id);
      expect(events[2]?.message).to.deep.include({ type: 'ping', uid: 'p' });
    });

    it('"auth.failure" tells of wrong credentials', async () => {
      const client = await openSocket(service.url);
      await client.ask({ type: 'auth', access_token: 'wrong' });
      await client.closed();
      await until(() => named('websocket.auth.failure').length === 1);
    });

    it('"error" tells of a client that breaks the protocol', async () => {
      const client = await openAuthenticated(service.url, user.token);
      client.socket.send('x'.repeat(2_000_000));
      await client.closed();
      await until(() => named('websocket.error').length === 1);
    });

    it('a filter of "message" may replace a message, and answer by the client', async () => {
      const client = await openAuthenticated(service.url, user.token);
      expect((await client.ask({ type: 'old-ping', uid: 1 })).type).to.equal('pong');
      client.send({ type: 'greet' });
      await client.next(({ type }) => type === 'greeting');
      client.close();
    });

    it('a filter of "message" receives no credentials', async () => {
      const client = await openAuthenticated(service.url, user.token);
      await client.ask({ type: 'ping', uid: 1 });
      client.close();
      expect(named('filter').map(({ message }) => (message as { type: string }).type)).to.deep.equal(['ping']);
    });

    it('"authenticate" names the caller of a message in place of its credentials', async () => {
      const client = await openSocket(service.url);
      expect(await client.ask({ type: 'auth', badge: badge(), uid: 1 })).to.deep.equal({
        ...{ type: 'auth', status: 'ok', uid: 1 },
      });
      expect((await client.ask(read)).data).to.deep.equal([{ id: 1, text: 'a' }]);
      client.close();
      expect(named('authenticate')).to.deep.equal([
        { event: 'authenticate', type: 'auth', members: ['badge', 'type', 'uid'] },
      ]);
      const success = await until(() => named('websocket.auth.success')[0]);
      expect(success.user).to.equal(user.id);
    });

    it('"authenticate" leaves a message to its credentials where the answer is the same', async () => {
      const client = await openSocket(service.url);
      expect((await client.ask({ type: 'auth', access_token: user.token })).status).to.equal('ok');
      client.close();
      const other = await openSocket(service.url);
      expect((await other.ask({ type: 'auth', access_token: 'wrong' })).error.code).to.equal('AUTH_FAILED');
      await other.closed();
      expect(named('authenticate')).to.have.length(2);
    });

    it('"authenticate" names the caller of an upgrade with a token', async () => {
      const token = encodeURIComponent(`badge:${JSON.stringify(badge())}`);
      const client = await openSocket(service.url, `/websocket?access_token=${token}`);
      expect((await client.ask(read)).data).to.have.length(1);
      client.close();
      expect(await refusedStatus(service.url, '/websocket?access_token=badge')).to.equal(401);
    });

    it('"authenticate" names the caller of a GraphQL socket', async () => {
      const client = createClient({
        ...{ url: `${service.url.replace('http', 'ws')}/graphql`, webSocketImpl: WebSocket, retryAttempts: 0 },
        connectionParams: { badge: badge() },
      });
      const answer = await client.iterate({ query: '{ note { text } }' }).next();
      expect(answer.value).to.deep.equal({ data: { note: [{ text: 'a' }] } });
      await client.dispose();
      expect(named('authenticate')[0]?.members).to.deep.equal(['badge', 'type']);
    });

    for (const wrong of [{ user: 'x' }, { admin: 'yes' }, { role: 7 }])
      it(`"authenticate" refuses a client for the accountability ${JSON.stringify(wrong)}, and logs it`, async () => {
        const client = await openSocket(service.url);
        const { error } = await client.ask({ type: 'auth', badge: wrong });
        expect(error).to.deep.equal({ code: 'AUTH_FAILED', message: 'Authentication failed.' });
        await client.closed();
        await until(() => service.log.some((line) => JSON.stringify(line).includes('websocket.authenticate')));
      });

    it('"authenticate" refuses an upgrade for what is no accountability, and logs it', async () => {
      const token = encodeURIComponent('badge:{"user":7}');
      expect(await refusedStatus(service.url, `/websocket?access_token=${token}`)).to.equal(401);
      await until(() => service.log.some((line) => JSON.stringify(line).includes('credentials of an upgrade')));
    });

    it('a caller whom "authenticate" names is asked for again after a change of rights, and is dropped where no listener names it', async () => {
      const client = await openSocket(service.url);
      await client.ask({ type: 'auth', badge: badge() });
      expect((await client.ask(read)).data).to.have.length(1);
      await changeRights();
      expect((await client.ask({ ...read, uid: 'again' })).data).to.have.length(1);
      expect(named('authenticate').length).to.be.greaterThan(1);
      shared.tenonBadgesEnd = true;
      await changeRights();
      const refused = await client.ask({ ...read, uid: 'late' });
      expect(refused.error.code).to.equal('INVALID_CREDENTIALS');
      await client.closed();
    });

    for (const thrown of ['Error', 'ServiceUnavailableException'])
      it(`a client whose listener of "authenticate" throws ${thrown} is dropped, and others keep their deliveries`, async () => {
        const logged = service.log.length;
        const bystander = await openAuthenticated(service.url, user.token);
        const client = await openSocket(service.url);
        await client.ask({ type: 'auth', badge: badge() });
        const subscribe = { type: 'subscribe', collection: 'note', event: 'create', uid: 's' };
        for (const one of [client, bystander]) expect((await one.ask(subscribe)).event).to.equal('init');
        shared.tenonBadgesThrow = thrown;
        await changeRights();
        await service.database.query("insert into note (text) values ('for all')");
        await bystander.next(({ event }) => event === 'create');
        expect(await client.closed()).to.equal(1013);
        expect(bystander.closeCode).to.equal(undefined);
        const isLogged = service.log
          .slice(logged)
          .some((line) => JSON.stringify(line).includes('the badge has expired'));
        expect(isLogged).to.equal(thrown === 'Error');
        bystander.close();
      });

    it('a client is notified and is the public where a listener of "authenticate" throws TOKEN_EXPIRED', async () => {
      const client = await openSocket(service.url);
      await client.ask({ type: 'auth', badge: badge() });
      shared.tenonBadgesThrow = 'TokenExpiredException';
      await changeRights();
      client.send(read);
      const { error } = await client.next(({ type }) => type === 'auth');
      expect(error.code).to.equal('TOKEN_EXPIRED');
      shared.tenonBadgesThrow = undefined;
      expect((await client.ask({ type: 'auth', badge: badge() })).status).to.equal('ok');
      client.close();
    });
  });

  describe('for confined code', () => {
    let packages: ConfinedPackageFolder;
    let service: InProcessService;

    before(async () => {
      packages = await createConfinedPackageFolder();
      const events = { filter: ['websocket.message'], action: ['websocket.auth.success', 'websocket.message'] };
      await packages.put(
        'service-extension-watch',
        { type: 'hook', events, capabilities: { log: true } },
        `export default { id: 'watch',
          filters: { 'websocket.message'(message, _meta, { host }) { host.log.info('filtered', { message }); return message; } },
          actions: {
            'websocket.auth.success'(meta, { host }) { host.log.info('authenticated', { meta }); },
            'websocket.message'(meta, { host }) { host.log.info('handled', { meta }); },
          } };`,
      );
      await packages.put(
        'service-extension-namer',
        { type: 'hook', events: { filter: ['websocket.authenticate'] }, capabilities: {} },
        `export default { id: 'namer', filters: { 'websocket.authenticate': (payload) => ({ ...payload, admin: true }) } };`,
      );
      service = await startService({ env: { ...ENV, EXTENSIONS_PATH: packages.path, LOG_LEVEL: 'info' } });
    });
    after(async () => {
      await service?.stop();
      await packages?.remove();
    });

    it('events hold no credentials', async () => {
      const client = await openSocket(service.url);
      const { email, password } = service.admin;
      await client.ask({ type: 'auth', email, password });
      await client.ask({ type: 'ping', uid: 'p' });
      client.close();
      const lines = await until(() => {
        const own = service.log.map((line) => JSON.stringify(line));
        const list = ['filtered', 'authenticated', 'handled'].map((text) =>
          own.filter((line) => line.includes(`"${text}"`)),
        );
        return list.every(({ length }) => length > 0) && list;
      });
      expect(lines.map(({ length }) => length)).to.deep.equal([1, 1, 1]);
      for (const line of lines.flat()) expect(line).not.to.include(password).and.not.to.include(email);
    });

    it('a filter of "authenticate" is refused, and the package says why', async () => {
      const found = (await listExtensions(service))['service-extension-namer'];
      expect(JSON.stringify(found)).to.include('EVENT_INVALID').and.to.include('websocket.authenticate');
    });
  });
});
