import { expect } from 'chai';
import { WebSocket } from 'ws';
import { clientLibrary, type Untyped } from '../support/client-library.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { createNotes, startRealtimeService } from './realtime-fixture.ts';

type Authentication = 'handshake' | 'public' | 'strict';

/** Answers to heartbeats that clients have sent. */
let pongs = 0;

class CountingWebSocket extends WebSocket {
  override send(...args: Untyped[]): void {
    if (args[0] === '{"type":"pong"}') pongs++;
    super.send(...(args as Parameters<WebSocket['send']>));
  }
}

/** The realtime client of the published package, unmodified. */
function createRealtimeClient(service: InProcessService, authMode: Authentication, more: object = {}): Untyped {
  return clientLibrary
    .createDirectus(service.url, { globals: { WebSocket: CountingWebSocket, fetch, URL, logger: console } })
    .with(clientLibrary.staticToken(service.admin.token))
    .with(clientLibrary.realtime({ authMode, ...more }));
}

/**
 * The message of a subscription that `work` causes. The library keeps no message that arrives while no call of `next` waits, so it is
 * called before the work begins.
 */
async function causedBy(subscription: Untyped, work: () => Promise<unknown>): Promise<Untyped> {
  const next = subscription.next();
  await work();
  return (await next).value;
}

for (const mode of ['handshake', 'public', 'strict'] as const) {
  describe(`the realtime client of a published library, ${mode}`, function () {
    this.timeout(60_000);
    let service: InProcessService;
    let notes: ReturnType<typeof createNotes>;
    let client: Untyped;
    before(async () => {
      service = await startRealtimeService({ WEBSOCKETS_REST_AUTH: mode, WEBSOCKETS_HEARTBEAT_PERIOD: '1' });
      notes = createNotes(service);
      client = createRealtimeClient(service, mode);
      await client.connect();
      // Messages are handled in their order, so subscriptions are those of the admin.
      if (mode === 'public') client.sendMessage({ type: 'auth', access_token: service.admin.token });
    });
    after(async () => {
      client?.disconnect();
      await service?.stop();
    });

    it('subscribes, receives changes, and unsubscribes', async () => {
      const { subscription, unsubscribe } = await client.subscribe('note', {
        query: { fields: ['id', 'title'], filter: { title: { _nnull: true } }, sort: ['-id'] },
      });
      const init = await causedBy(subscription, async () => {});
      expect(init).to.deep.include({ type: 'subscription', event: 'init', data: [] });
      let id = 0;
      const created = await causedBy(subscription, async () => {
        id = (await notes.create({ title: 'a' })).id;
      });
      expect(created).to.deep.include({ event: 'create', data: [{ id, title: 'a' }] });
      const updated = await causedBy(subscription, () => notes.update(id, { title: 'b' }));
      expect(updated).to.deep.include({ event: 'update', data: [{ id, title: 'b' }] });
      expect(await causedBy(subscription, () => notes.remove(id))).to.deep.include({ event: 'delete', data: [id] });
      unsubscribe();
    });

    it('subscribes to one event, and receives messages of its own', async () => {
      const { subscription } = await client.subscribe('note', { event: 'delete' });
      expect(await causedBy(subscription, async () => {})).to.deep.include({ event: 'init' });
      const received = new Promise((resolve) => client.onWebSocket('message', resolve));
      client.sendMessage({ type: 'items', action: 'read', collection: 'note', uid: 'mine' });
      expect(await received).to.deep.include({ type: 'items', data: [], uid: 'mine' });
      const { id } = await notes.create({});
      expect(await causedBy(subscription, () => notes.remove(id))).to.deep.include({ event: 'delete', data: [id] });
    });

    it('throws where the service refuses a subscription', async () => {
      const { subscription } = await client.subscribe('missing');
      const error = await subscription.next().catch((reason: unknown) => reason);
      expect((error as Untyped).error.code).to.equal('INVALID_COLLECTION');
    });

    it('answers heartbeats and stays connected', async () => {
      await until(() => pongs >= 3, 15_000);
      expect(await client.isConnected()).to.equal(true);
      pongs = 0;
    });
  });
}

describe('the realtime client of a published library', function () {
  this.timeout(60_000);

  it('connects again when the service is back, with its subscriptions', async () => {
    const first = await startRealtimeService();
    const { port } = new URL(first.url);
    // The library gives up when its first attempt fails, so it waits until the service is back.
    const client = createRealtimeClient(first, 'handshake', { reconnect: { delay: 1500, retries: 5 } });
    const events: string[] = [];
    client.onWebSocket('message', ({ type, event }: Untyped) => {
      if (type === 'subscription') events.push(event);
    });
    await client.connect();
    await client.subscribe('note', { query: { fields: ['title'] } });
    await until(() => events.includes('init'));
    events.length = 0;
    const { database } = first;
    await first.kernel.stop();
    const second = await startService({ database, env: { WEBSOCKETS_ENABLED: 'true', PORT: port } });
    try {
      await until(() => events.includes('init'));
      await createNotes(second).create({ title: 'again' });
      await until(() => events.includes('create'));
    } finally {
      client.disconnect();
      await second.stop();
      await first.stop();
    }
  });

  it('renews an expired token and keeps its subscriptions', async () => {
    const service = await startRealtimeService({ ACCESS_TOKEN_TTL: '2s' });
    try {
      await service.database.query(`update platform_users set token = 'a-static-token' where email = $1`, [
        service.admin.email,
      ]);
      const library = clientLibrary.createDirectus(service.url, {
        globals: { WebSocket, fetch, URL, logger: console },
      });
      const client = library
        .with(clientLibrary.authentication('json', { autoRefresh: false }))
        .with(clientLibrary.rest())
        .with(clientLibrary.realtime());
      await client.login({ email: service.admin.email, password: service.admin.password });
      await client.connect();
      const codes: string[] = [];
      client.onWebSocket('message', ({ type, status, error, event }: Untyped) =>
        codes.push(error?.code ?? `${type} ${status ?? event}`),
      );
      await client.subscribe('note');
      await until(() => codes.includes('subscription init'));
      // The library answers an expired token with a new one, and shows only the answer to that.
      await until(() => codes.filter((code) => code === 'auth ok').length === 2);
      const body = { title: 'later' };
      await service.request('POST', '/items/note', { token: 'a-static-token', body });
      await until(() => codes.includes('subscription create'));
      client.disconnect();
    } finally {
      await service.stop();
    }
  });
});
