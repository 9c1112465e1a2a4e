import { expect } from 'chai';
import { openAuthenticated, openSocket, type RealtimeTestClient } from '../support/realtime-client.ts';
import type { InProcessService } from '../support/service.ts';
import { changesOf, createNotes, startRealtimeService, subscribeTo } from './realtime-fixture.ts';
import { createUserWithPermissions, requestAsAdmin, type TestPermission } from './test-users.ts';

describe('what a subscription shows', function () {
  this.timeout(60_000);
  let service: InProcessService;
  let notes: ReturnType<typeof createNotes>;
  const clients: RealtimeTestClient[] = [];
  const read = (more: Partial<TestPermission> = {}): TestPermission => ({
    collection: 'note',
    action: 'read',
    ...more,
  });
  const connect = async (token: string, message: Record<string, unknown> = {}) => {
    const client = await subscribeTo(service, token, { collection: 'note', ...message });
    clients.push(client);
    return client;
  };
  /** Resolves when all changes up to now have been delivered: the client gets a row that each of these tests lets it see. */
  const settle = async (client: RealtimeTestClient) => {
    const mark = `mark ${Math.random()}`;
    await notes.create({ title: mark, kind: 'in' });
    await client.next(({ data }) => Array.isArray(data) && data.some(({ title }) => title === mark));
  };
  /** What the client got without the marks, which may share a message with other rows. */
  const deliveredTo = (client: RealtimeTestClient) =>
    changesOf(client).flatMap(([event, data]) => {
      const rows = (data as unknown[]).filter((row) => !JSON.stringify(row).includes('"mark '));
      return rows.length === 0 ? [] : [[event, rows]];
    });

  before(async () => {
    service = await startRealtimeService({ WEBSOCKETS_REST_AUTH: 'public' });
    notes = createNotes(service);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await service.database.query('delete from note');
  });
  after(() => service?.stop());

  it('are the rows and the fields that the caller may read', async () => {
    const user = await createUserWithPermissions(service, [
      read({ fields: ['id', 'title'], permissions: { kind: { _eq: 'in' } } }),
    ]);
    const client = await connect(user.token);
    await notes.create({ kind: 'out', title: 'o' });
    const { id } = await notes.create({ kind: 'in', title: 'i' });
    await settle(client);
    expect(deliveredTo(client)).to.deep.equal([['create', [{ id, title: 'i' }]]]);
  });

  it('are deletes of rows that the caller could read, and of no others', async () => {
    const user = await createUserWithPermissions(service, [read({ permissions: { kind: { _eq: 'in' } } })]);
    const [shown, hidden] = [await notes.create({ kind: 'in' }), await notes.create({ kind: 'out' })];
    const client = await connect(user.token);
    await notes.remove(hidden.id);
    await notes.remove(shown.id);
    await settle(client);
    expect(deliveredTo(client)).to.deep.equal([['delete', [shown.id]]]);
  });

  it('are no deletes where the rule asks for missing related rows, which go with the row', async () => {
    const user = await createUserWithPermissions(service, [read({ permissions: { children: { _none: {} } } })]);
    const parent = await notes.create({ title: 'p', kind: 'in' });
    await notes.create({ title: 'c', parent: parent.id });
    const client = await connect(user.token);
    await notes.remove(parent.id);
    await settle(client);
    expect(deliveredTo(client)).to.deep.equal([]);
  });

  it('differ for callers of one role where the rule names the user', async () => {
    const grants = [read({ permissions: { owner: { _eq: '$CURRENT_USER' } } })];
    const one = await createUserWithPermissions(service, grants);
    const other = await createUserWithPermissions(service, grants);
    await requestAsAdmin(service, 'PATCH', `/users/${other.id}`, { role: one.role });
    const [first, second] = [await connect(one.token), await connect(other.token)];
    const mine = await notes.create({ title: 'one', owner: one.id });
    const yours = await notes.create({ title: 'two', owner: other.id });
    expect((await first.next(({ event }) => event === 'create')).data[0].id).to.equal(mine.id);
    expect((await second.next(({ event }) => event === 'create')).data[0].id).to.equal(yours.id);
    await notes.remove(mine.id);
    await notes.remove(yours.id);
    await first.next(({ event }) => event === 'delete');
    await second.next(({ event }) => event === 'delete');
    expect(changesOf(first).map(([event]) => event)).to.deep.equal(['create', 'delete']);
    expect(changesOf(second).map(([event]) => event)).to.deep.equal(['create', 'delete']);
  });

  it('changes with the permission, from the next message on', async () => {
    const user = await createUserWithPermissions(service, [read({ permissions: { kind: { _eq: 'in' } } })]);
    const client = await connect(user.token, { query: { fields: ['title'] } });
    const path = `/permissions?filter[role][_eq]=${user.role}`;
    const [permission] = await requestAsAdmin(service, 'GET', path);
    await requestAsAdmin(service, 'PATCH', `/permissions/${permission.id}`, { permissions: { kind: { _eq: 'out' } } });
    await notes.create({ kind: 'in', title: 'a' });
    await notes.create({ kind: 'out', title: 'b' });
    await client.next(({ event }) => event === 'create');
    await requestAsAdmin(service, 'DELETE', `/permissions/${permission.id}`);
    await notes.create({ kind: 'out', title: 'c' });
    await client.settle();
    const body = { role: user.role, collection: 'note', action: 'read', fields: ['title'], permissions: null };
    await requestAsAdmin(service, 'POST', '/permissions', body);
    await notes.create({ title: 'd' });
    await client.next(({ data }) => data?.some(({ title }: { title: string }) => title === 'd'));
    const titles = changesOf(client).flatMap(([, rows]) => (rows as { title: string }[]).map(({ title }) => title));
    expect(titles[0]).to.equal('b');
    expect(titles).to.not.include('a');
  });

  it('ends for a suspended user, whose socket is closed', async () => {
    const user = await createUserWithPermissions(service, [read()]);
    const client = await connect(user.token);
    await requestAsAdmin(service, 'PATCH', `/users/${user.id}`, { status: 'suspended' });
    await notes.create({ title: 'secret' });
    expect((await client.next(({ type }) => type === 'auth' && client.messages.length > 2)).error.code).to.equal(
      'AUTH_FAILED',
    );
    await client.closed();
    expect(JSON.stringify(client.messages)).to.not.include('secret');
  });

  it('ends for a suspended user who sends a message, whose socket is closed after the answer', async () => {
    const user = await createUserWithPermissions(service, [read()]);
    const client = await openAuthenticated(service.url, user.token);
    await requestAsAdmin(service, 'PATCH', `/users/${user.id}`, { status: 'suspended' });
    const answer = await client.ask({ type: 'items', action: 'read', collection: 'note' });
    expect(answer.error.code).to.equal('USER_SUSPENDED');
    expect((await client.next(({ type }) => type === 'auth')).error.code).to.equal('AUTH_FAILED');
    await client.closed();
  });

  it('changes with the role of the user', async () => {
    const user = await createUserWithPermissions(service, [read({ permissions: { kind: { _eq: 'in' } } })]);
    const other = await createUserWithPermissions(service, [read({ permissions: { kind: { _eq: 'other' } } })]);
    const client = await connect(user.token, { query: { fields: 'title' } });
    await requestAsAdmin(service, 'PATCH', `/users/${user.id}`, { role: other.role });
    await notes.create({ kind: 'in', title: 'no' });
    await notes.create({ kind: 'other', title: 'yes' });
    expect((await client.next(({ event }) => event === 'create')).data).to.deep.equal([{ title: 'yes' }]);
  });

  it('is what the public may read for a client without credentials', async () => {
    const client = await openSocket(service.url);
    clients.push(client);
    const message = { type: 'subscribe', collection: 'note', uid: 's' };
    expect((await client.ask(message)).error.code).to.equal('INVALID_COLLECTION');
    const body = { role: null, collection: 'note', action: 'read', fields: ['title'], permissions: null };
    const { id } = await requestAsAdmin(service, 'POST', '/permissions', body);
    expect((await client.ask(message)).event).to.equal('init');
    await notes.create({ title: 'public', kind: 'hidden' });
    expect((await client.next(({ event }) => event === 'create')).data).to.deep.equal([{ title: 'public' }]);
    await requestAsAdmin(service, 'DELETE', `/permissions/${id}`);
  });

  it('follows a client that authenticates as another user', async () => {
    const body = { role: null, collection: 'note', action: 'read', fields: ['title'], permissions: null };
    const { id } = await requestAsAdmin(service, 'POST', '/permissions', body);
    const client = await openSocket(service.url);
    clients.push(client);
    await client.ask({ type: 'subscribe', collection: 'note', uid: 's' });
    await client.ask({ type: 'auth', access_token: service.admin.token });
    await notes.create({ title: 't', kind: 'k' });
    expect((await client.next(({ event }) => event === 'create')).data[0]).to.include({ title: 't', kind: 'k' });
    await requestAsAdmin(service, 'DELETE', `/permissions/${id}`);
  });

  it('are rows of system collections too', async () => {
    const user = await createUserWithPermissions(service, [
      { collection: 'platform_folders', action: 'read', permissions: { name: { _eq: 'a' } } },
    ]);
    const client = await connect(user.token, { collection: 'platform_folders', query: { fields: 'name' } });
    for (const name of ['b', 'a']) await requestAsAdmin(service, 'POST', '/folders', { name });
    expect((await client.next(({ event }) => event === 'create')).data).to.deep.equal([{ name: 'a' }]);
  });
});
