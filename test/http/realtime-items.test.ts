import { expect } from 'chai';
import { openAuthenticated, type RealtimeTestClient } from '../support/realtime-client.ts';
import type { InProcessService } from '../support/service.ts';
import { startRealtimeService } from './realtime-fixture.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

describe('items by the REST-style socket', function () {
  this.timeout(60_000);
  let service: InProcessService;
  let client: RealtimeTestClient;
  const ask = (message: Record<string, unknown>) => client.ask({ type: 'items', collection: 'note', ...message });

  before(async () => {
    service = await startRealtimeService();
    await requestAsAdmin(service, 'POST', '/collections', {
      collection: 'site',
      schema: {},
      meta: { singleton: true },
      fields: [{ field: 'name', type: 'string' }],
    });
    client = await openAuthenticated(service.url, service.admin.token);
  });
  after(async () => {
    client?.close();
    await service?.stop();
  });

  it('creates, reads, updates and deletes one row', async () => {
    const query = { fields: ['id', 'title'] };
    const created = await ask({ action: 'create', data: { title: 'a' }, query, uid: 1 });
    const { id } = created.data;
    expect(created).to.deep.equal({ type: 'items', data: { id, title: 'a' }, uid: 1 });
    expect((await ask({ action: 'read', id, query })).data).to.deep.equal({ id, title: 'a' });
    expect((await ask({ action: 'update', id, data: { title: 'b' }, query })).data).to.deep.equal({ id, title: 'b' });
    expect((await ask({ action: 'delete', id })).data).to.equal(id);
    expect((await ask({ action: 'read', id })).error.code).to.equal('FORBIDDEN');
  });

  it('does so with several rows, by keys, each by its data, and by a query', async () => {
    const query = { fields: 'title' };
    const rows = (await ask({ action: 'create', data: [{ title: '1' }, { title: '2' }] })).data;
    const ids = rows.map(({ id }: { id: number }) => id);
    expect((await ask({ action: 'read', ids, query })).data).to.deep.equal([{ title: '1' }, { title: '2' }]);
    const found = await ask({ action: 'read', query: { filter: { title: { _eq: '1' } }, fields: 'title', meta: '*' } });
    expect([found.data, found.meta]).to.deep.equal([[{ title: '1' }], { total_count: 2, filter_count: 1 }]);
    const kinds = async () => (await ask({ action: 'read', ids, query: { fields: 'kind' } })).data;
    await ask({ action: 'update', ids, data: { kind: 'x' } });
    expect(await kinds()).to.deep.equal([{ kind: 'x' }, { kind: 'x' }]);
    await ask({ action: 'update', data: ids.map((id: number, at: number) => ({ id, kind: `k${at}` })) });
    expect(await kinds()).to.deep.equal([{ kind: 'k0' }, { kind: 'k1' }]);
    await ask({ action: 'update', query: { filter: { kind: { _eq: 'k1' } } }, data: { kind: 'y' } });
    expect(await kinds()).to.deep.equal([{ kind: 'k0' }, { kind: 'y' }]);
    expect((await ask({ action: 'delete', ids: [ids[0]] })).data).to.deep.equal([ids[0]]);
    expect((await ask({ action: 'delete', query: { filter: { kind: { _eq: 'y' } } } })).data).to.deep.equal([ids[1]]);
  });

  it('reads and writes a singleton', async () => {
    const site = { collection: 'site' };
    expect((await ask({ ...site, action: 'update', data: { name: 'n' } })).data).to.include({ name: 'n' });
    expect((await ask({ ...site, action: 'read' })).data).to.include({ name: 'n' });
  });

  it('answers what is wrong with a message', async () => {
    const codeOf = async (message: Record<string, unknown>) => {
      const answer = await ask(message);
      expect([answer.type, answer.status]).to.deep.equal(['items', 'error']);
      return answer.error.code;
    };
    expect(await codeOf({ action: 'read', collection: 'missing' })).to.equal('INVALID_COLLECTION');
    expect(await codeOf({ action: 'read', collection: 'platform_users' })).to.equal('INVALID_COLLECTION');
    expect(await codeOf({ action: 'other' })).to.equal('INVALID_PAYLOAD');
    expect(await codeOf({ action: 'constructor' })).to.equal('INVALID_PAYLOAD');
    expect(await codeOf({ action: 'create', data: 'x' })).to.equal('INVALID_PAYLOAD');
    expect(await codeOf({ action: 'update', data: { title: 'x' } })).to.equal('INVALID_PAYLOAD');
    expect(await codeOf({ action: 'delete' })).to.equal('INVALID_PAYLOAD');
    expect(await codeOf({ action: 'read', ids: 'x' })).to.equal('INVALID_PAYLOAD');
    expect(await codeOf({ action: 'read', query: { filter: { title: { _x: 1 } } } })).to.equal('INVALID_QUERY');
  });

  it('applies the permissions of the caller', async () => {
    const user = await createUserWithPermissions(service, [
      { collection: 'note', action: 'create', fields: ['title'] },
    ]);
    const other = await openAuthenticated(service.url, user.token);
    const send = (message: object) => other.ask({ type: 'items', collection: 'note', ...message });
    expect(await send({ action: 'create', data: { title: 't' }, uid: 'u' })).to.deep.equal({
      ...{ type: 'items', data: null, uid: 'u' },
    });
    expect((await send({ action: 'create', data: { kind: 'k' } })).error.code).to.equal('FORBIDDEN');
    expect((await send({ action: 'read' })).error.code).to.equal('FORBIDDEN');
    expect((await send({ action: 'read', collection: 'site' })).error.code).to.equal('INVALID_COLLECTION');
    other.close();
  });
});
