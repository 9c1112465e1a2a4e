import { expect } from 'chai';
import pg from 'pg';
import { openAuthenticated, type RealtimeTestClient } from '../support/realtime-client.ts';
import type { InProcessService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { createNotes, startRealtimeService } from './realtime-fixture.ts';
import { createUserWithPermissions, requestAsAdmin, type TestUserWithToken } from './test-users.ts';

/** Rights are taken away while the first read of a subscription waits for another read of the same user. */
describe('a first read that waits', function () {
  this.timeout(60_000);
  let service: InProcessService;
  let notes: ReturnType<typeof createNotes>;
  let user: TestUserWithToken;
  let locker: pg.Client;
  const clients: RealtimeTestClient[] = [];
  const grant = (collection: string) => ({ collection, action: 'read' }) as const;
  const connect = async (token: string) => {
    const client = await openAuthenticated(service.url, token);
    clients.push(client);
    return client;
  };
  const countSubscriptions = async () => {
    const { body } = await service.request('GET', '/metrics', { token: service.admin.token });
    return Number(/realtime_subscriptions\S* (\d+)/.exec(String(body))?.[1]);
  };
  const hasSubscriptions = (count: number) => until(async () => (await countSubscriptions()) === count);

  /**
   * Subscribes to notes while a read of the user's other socket waits for a lock, takes rights away, and unlocks. Answers the first message.
   */
  async function subscribeMeanwhile(message: object, takeAway: () => Promise<unknown>) {
    const { length: known } = clients;
    const [slow, waiting] = [await connect(user.token), await connect(user.token)];
    await locker.query('begin; lock table slow in access exclusive mode');
    slow.send({ type: 'subscribe', collection: 'slow', uid: 's' });
    await hasSubscriptions(known + 1);
    waiting.send({ type: 'subscribe', collection: 'note', uid: 's', ...message });
    await hasSubscriptions(known + 2);
    await takeAway();
    await locker.query('rollback');
    return { waiting, answer: await waiting.next(({ uid }) => uid === 's') };
  }
  const permissionOnNotes = async () =>
    (
      await requestAsAdmin(service, 'GET', `/permissions?filter[role][_eq]=${user.role}&filter[collection][_eq]=note`)
    )[0];
  const statusOfRead = async () => (await service.request('GET', '/items/note', { token: user.token })).status;
  const removePermission = async () => {
    await requestAsAdmin(service, 'DELETE', `/permissions/${(await permissionOnNotes()).id}`);
    await until(async () => (await statusOfRead()) === 403);
  };

  before(async () => {
    service = await startRealtimeService({ METRICS_ENABLED: 'true' });
    notes = createNotes(service);
    await requestAsAdmin(service, 'POST', '/collections', { collection: 'slow', schema: {} });
    locker = new pg.Client({ connectionString: service.database.url });
    await locker.connect();
  });
  beforeEach(async () => {
    user = await createUserWithPermissions(service, [grant('note'), grant('slow')]);
    // Both tables have their triggers, and there is a position.
    for (const collection of ['slow', 'note']) {
      const watching = await connect(service.admin.token);
      await watching.ask({ type: 'subscribe', collection, uid: 's' });
    }
  });
  afterEach(async () => {
    await locker.query('rollback');
    for (const client of clients.splice(0)) client.close();
    await hasSubscriptions(0);
  });
  after(async () => {
    await locker?.end();
    await service?.stop();
  });

  async function positionBefore(data: object): Promise<string> {
    const client = await connect(service.admin.token);
    const { position } = await client.ask({ type: 'subscribe', collection: 'note', uid: 's', positions: true });
    await notes.create(data);
    await client.next(({ event }) => event === 'create');
    return position;
  }

  it('delivers nothing of what followed "since" where the permission was removed', async () => {
    const since = await positionBefore({ title: 'secret' });
    const { waiting, answer } = await subscribeMeanwhile({ since }, removePermission);
    expect([answer.type, answer.error?.code]).to.deep.equal(['subscribe', 'FORBIDDEN']);
    expect(JSON.stringify(waiting.messages)).to.not.include('secret');
  });

  it('delivers what followed "since" by the permission of the moment where it was changed', async () => {
    const since = await positionBefore({ title: 'seen', kind: 'secret' });
    const { waiting } = await subscribeMeanwhile({ since }, async () => {
      const { id } = await permissionOnNotes();
      await requestAsAdmin(service, 'PATCH', `/permissions/${id}`, { fields: ['title'] });
      await until(async () => {
        const { body } = await service.request('GET', '/items/note?limit=1', { token: user.token });
        return !('kind' in body.data[0]);
      });
    });
    const { data } = await waiting.next(({ event }) => event === 'create');
    expect(data).to.deep.equal([{ title: 'seen' }]);
    expect(JSON.stringify(waiting.messages)).to.not.include('secret');
  });

  it('reads the rows of the beginning for the role that the user has then', async () => {
    await notes.create({ title: 'secret' });
    const other = await createUserWithPermissions(service, [grant('slow')]);
    const { waiting, answer } = await subscribeMeanwhile({}, async () => {
      await requestAsAdmin(service, 'PATCH', `/users/${user.id}`, { role: other.role });
      await until(async () => (await statusOfRead()) === 403);
    });
    expect([answer.type, answer.error?.code]).to.deep.equal(['subscribe', 'FORBIDDEN']);
    expect(JSON.stringify(waiting.messages)).to.not.include('secret');
  });

  it('delivers rows that another user has read by rights which that one alone has got meanwhile to no one else', async () => {
    await notes.create({ title: 'seen', kind: 'hidden' });
    const grants = [{ ...grant('note'), fields: ['title'] }, grant('slow')];
    user = await createUserWithPermissions(service, grants);
    const other = await createUserWithPermissions(service, grants);
    let sharing: RealtimeTestClient | undefined;
    const { waiting } = await subscribeMeanwhile({}, async () => {
      const known = await countSubscriptions();
      sharing = await connect(other.token);
      sharing.send({ type: 'subscribe', collection: 'note', uid: 's' });
      await hasSubscriptions(known + 1);
      const { id } = await permissionOnNotes();
      await requestAsAdmin(service, 'PATCH', `/permissions/${id}`, { fields: ['*'] });
      await until(async () => {
        const { body } = await service.request('GET', '/items/note?limit=1', { token: user.token });
        return 'kind' in body.data[0];
      });
    });
    const answer = await sharing?.next(({ event }) => event === 'init');
    expect(answer.data).to.deep.include({ title: 'seen' });
    expect(JSON.stringify(sharing?.messages)).to.not.include('hidden');
    expect(JSON.stringify(waiting.messages)).to.include('hidden');
  });
});
