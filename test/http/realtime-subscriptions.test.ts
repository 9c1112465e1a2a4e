import { expect } from 'chai';
import { openAuthenticated, type RealtimeTestClient } from '../support/realtime-client.ts';
import type { InProcessService } from '../support/service.ts';
import { changesOf, createNotes, startRealtimeService, subscribeTo } from './realtime-fixture.ts';

describe('subscriptions to rows', function () {
  this.timeout(60_000);
  let service: InProcessService;
  let notes: ReturnType<typeof createNotes>;
  const clients: RealtimeTestClient[] = [];
  const subscribe = async (message: Record<string, unknown>) => {
    const client = await subscribeTo(service, service.admin.token, { collection: 'note', ...message });
    clients.push(client);
    return client;
  };
  const sql = (text: string) => service.database.query(text);

  before(async () => {
    service = await startRealtimeService();
    notes = createNotes(service);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await sql('delete from note');
  });
  after(() => service?.stop());

  it('begin with the rows of the query, and report creates, updates and deletes', async () => {
    const row = await notes.create({ title: 'a' });
    const client = await openAuthenticated(service.url, service.admin.token);
    clients.push(client);
    const init = await client.ask({ type: 'subscribe', collection: 'note', uid: 's1', query: { fields: 'id,title' } });
    expect(init).to.deep.equal({ type: 'subscription', event: 'init', data: [{ id: row.id, title: 'a' }], uid: 's1' });
    const { id } = await notes.create({ title: 'b' });
    const common = { type: 'subscription', uid: 's1' };
    const next = () => client.next(({ uid }) => uid === 's1');
    expect(await next()).to.deep.equal({ ...common, event: 'create', data: [{ id, title: 'b' }] });
    await notes.update(id, { title: 'c' });
    expect(await next()).to.deep.equal({ ...common, event: 'update', data: [{ id, title: 'c' }] });
    await notes.remove(id);
    expect(await next()).to.deep.equal({ ...common, event: 'delete', data: [id] });
  });

  it('answer meta beside the first rows', async () => {
    await notes.create({ title: 'a' });
    const client = await openAuthenticated(service.url, service.admin.token);
    clients.push(client);
    const query = { limit: 0, meta: '*' };
    const init = await client.ask({ type: 'subscribe', collection: 'note', query });
    expect([init.data, init.meta]).to.deep.equal([[], { total_count: 1, filter_count: 1 }]);
  });

  it('with an event begin without rows and report that event only', async () => {
    const client = await openAuthenticated(service.url, service.admin.token);
    clients.push(client);
    const init = await client.ask({ type: 'subscribe', collection: 'note', event: 'update', uid: 's' });
    expect(init).to.deep.equal({ type: 'subscription', event: 'init', uid: 's' });
    const { id } = await notes.create({ title: 'a' });
    await notes.update(id, { title: 'b' });
    await client.next(({ event }) => event === 'update');
    await notes.remove(id);
    await notes.update((await notes.create({})).id, { kind: 'last' });
    await client.next(({ data }) => data?.[0]?.kind === 'last');
    expect(changesOf(client).map(([event]) => event)).to.deep.equal(['update', 'update']);
  });

  it('with an item report that row only, as an object', async () => {
    const [one, other] = [await notes.create({ title: '1' }), await notes.create({ title: '2' })];
    const client = await subscribe({ item: String(one.id), query: { fields: ['title'] } });
    await notes.update(other.id, { title: 'x' });
    await notes.update(one.id, { title: 'y' });
    await client.next(({ event }) => event === 'update');
    await notes.remove(other.id);
    await notes.remove(one.id);
    await client.next(({ event }) => event === 'delete');
    expect(changesOf(client)).to.deep.equal([
      ['update', { title: 'y' }],
      ['delete', one.id],
    ]);
  });

  it('with an item begin with that row, as an object', async () => {
    const { id } = await notes.create({ title: '1' });
    await notes.create({ title: '2' });
    const client = await openAuthenticated(service.url, service.admin.token);
    clients.push(client);
    const message = { type: 'subscribe', collection: 'note', uid: 's', query: { fields: 'id,title', sort: 'title' } };
    const common = { type: 'subscription', event: 'init', uid: 's' };
    const init = await client.ask({ ...message, item: id });
    expect(init).to.deep.equal({ ...common, data: { id, title: '1' } });
    await sql(`insert into note (title) select 'many' from generate_series(1, 6000)`);
    const resync = await client.next((one) => one.resync === true);
    expect(resync).to.deep.equal({ ...common, resync: true, data: { id, title: '1' } });
    await sql('truncate note');
    expect((await client.next((one) => one.resync === true)).data).to.equal(null);
    const { error } = await client.ask({ ...message, item: id, uid: 't' });
    expect(error.code).to.equal('FORBIDDEN');
    expect(await client.ask({ ...message, item: id, uid: 'u', event: 'create' })).to.deep.equal({
      ...common,
      uid: 'u',
    });
  });

  it('with different items begin with different rows, also where their reads wait', async () => {
    const rows = [
      await notes.create({ title: 'a' }),
      await notes.create({ title: 'b' }),
      await notes.create({ title: 'c' }),
    ];
    const opened = await Promise.all(rows.map(() => openAuthenticated(service.url, service.admin.token)));
    clients.push(...opened);
    const answers = opened.map((client, at) =>
      client.ask({ type: 'subscribe', collection: 'note', item: rows[at]?.id, query: { fields: 'title' } }),
    );
    expect((await Promise.all(answers)).map(({ data }) => data?.title)).to.deep.equal(['a', 'b', 'c']);
  });

  it('report changes by plain SQL, several rows of a statement in one message', async () => {
    const client = await subscribe({ query: { fields: 'title' } });
    await sql(`insert into note (title) values ('a'), ('b')`);
    expect((await client.next(({ event }) => event === 'create')).data).to.deep.equal([{ title: 'a' }, { title: 'b' }]);
    await sql(`update note set title = title || '!'`);
    expect((await client.next(({ event }) => event === 'update')).data).to.deep.equal([
      { title: 'a!' },
      { title: 'b!' },
    ]);
    await sql('delete from note');
    expect((await client.next(({ event }) => event === 'delete')).data).to.have.length(2);
  });

  it('report nothing that is rolled back', async () => {
    const client = await subscribe({});
    await sql(`do $$ begin insert into note (title) values ('no'); rollback; end $$`);
    await notes.create({ title: 'yes' });
    await client.next(({ event }) => event === 'create');
    expect(changesOf(client).map(([, data]) => (data as { title: string }[])[0]?.title)).to.deep.equal(['yes']);
  });

  it('report rows that a cascade deletes', async () => {
    const parent = await notes.create({});
    const child = await notes.create({ parent: parent.id });
    const client = await subscribe({});
    await notes.remove(parent.id);
    await client.next(({ data }) => data?.includes(child.id));
    expect(changesOf(client).flatMap(([, data]) => data)).to.have.members([parent.id, child.id]);
  });

  it('report rows that are larger than a notification', async () => {
    const client = await subscribe({ query: { fields: 'title' } });
    const title = 'long '.repeat(20_000);
    const { id } = await notes.create({ title });
    expect((await client.next(({ event }) => event === 'create')).data).to.deep.equal([{ title }]);
    await notes.remove(id);
    expect((await client.next(({ event }) => event === 'delete')).data).to.deep.equal([id]);
  });

  it('report a changed key as a delete of the old one and an update of the new one', async () => {
    const { id } = await notes.create({});
    const client = await subscribe({ query: { fields: 'id' } });
    await sql(`update note set id = id + 100000 where id = ${id}`);
    await client.next(({ event }) => event === 'update');
    expect(changesOf(client)).to.deep.equal([
      ['delete', [id]],
      ['update', [{ id: id + 100_000 }]],
    ]);
    await sql(`delete from note where id > 100000`);
  });

  it('leave out rows that do not match the filter, before and after', async () => {
    const client = await subscribe({ query: { filter: { kind: { _eq: 'in' } }, fields: 'title' } });
    const out = await notes.create({ kind: 'out', title: 'o' });
    const inside = await notes.create({ kind: 'in', title: 'i' });
    // A row is delivered as it is when it is read, so the next change waits.
    await client.next(({ event }) => event === 'create');
    await notes.update(inside.id, { kind: 'out' });
    await notes.update(out.id, { kind: 'in' });
    await client.next(({ event }) => event === 'update');
    await notes.remove(inside.id);
    await notes.remove(out.id);
    await client.next(({ event }) => event === 'delete');
    expect(changesOf(client)).to.deep.equal([
      ['create', [{ title: 'i' }]],
      ['update', [{ title: 'o' }]],
      ['delete', [out.id]],
    ]);
  });

  it('with "leaving" announce a row that leaves the filter as a delete', async () => {
    const client = await subscribe({ leaving: true, query: { filter: { kind: { _eq: 'in' } }, fields: 'title' } });
    const { id } = await notes.create({ kind: 'in', title: 'i' });
    await client.next(({ event }) => event === 'create');
    await notes.update(id, { kind: 'out' });
    expect((await client.next(({ event }) => event === 'delete')).data).to.deep.equal([id]);
    await notes.update(id, { title: 'hidden' });
    await notes.create({ kind: 'in', title: 'mark' });
    await client.next(({ event }) => event === 'create');
    await notes.update(id, { kind: 'in' });
    await client.next(({ event }) => event === 'update');
    expect(changesOf(client).map(([event]) => event)).to.deep.equal(['create', 'delete', 'create', 'update']);
  });

  it('read filters, sort and fields as text, as clients send them', async () => {
    await notes.create({ title: 'b', kind: 'x' });
    await notes.create({ title: 'a', kind: 'x' });
    const client = await openAuthenticated(service.url, service.admin.token);
    clients.push(client);
    const query = { fields: 'title', sort: '-title', filter: '{"kind":{"_eq":"x"}}', deep: '{}' };
    const init = await client.ask({ type: 'subscribe', collection: 'note', query });
    expect(init.data).to.deep.equal([{ title: 'b' }, { title: 'a' }]);
  });

  it('read related rows as any other read does', async () => {
    const parent = await notes.create({ title: 'p' });
    const client = await subscribe({ query: { fields: ['title', 'parent.title', 'children.title'] } });
    await notes.create({ title: 'c', parent: parent.id });
    expect((await client.next(({ event }) => event === 'create')).data).to.deep.equal([
      { title: 'c', parent: { title: 'p' }, children: [] },
    ]);
  });

  it('read again after a truncate and after a statement with very many rows', async () => {
    const client = await subscribe({ query: { fields: 'title', limit: 1 } });
    await sql(`insert into note (title) select 'many' from generate_series(1, 6000)`);
    expect(await client.next(({ resync }) => resync === true)).to.deep.equal({
      ...{ type: 'subscription', event: 'init', resync: true, uid: 's' },
      data: [{ title: 'many' }],
    });
    await sql('truncate note');
    expect((await client.next(({ resync }) => resync === true)).data).to.deep.equal([]);
  });

  it('end by "unsubscribe", one or all, and are replaced by another with their uid', async () => {
    const client = await subscribe({ uid: 'one' });
    await client.ask({ type: 'subscribe', uid: 'two', collection: 'note', query: { fields: 'id' } });
    await client.ask({ type: 'subscribe', uid: 'two', collection: 'note', query: { fields: 'title' } });
    expect(await client.ask({ type: 'unsubscribe', uid: 'one' })).to.deep.equal({
      ...{ type: 'subscription', event: 'unsubscribe', uid: 'one' },
    });
    await notes.create({ title: 't' });
    await client.next(({ uid, event }) => uid === 'two' && event === 'create');
    client.send({ type: 'unsubscribe' });
    await client.next(({ event }) => event === 'unsubscribe');
    await notes.create({ title: 'u' });
    await client.settle();
    expect([changesOf(client, 'one'), changesOf(client, 'two')]).to.deep.equal([[], [['create', [{ title: 't' }]]]]);
  });

  it('answer what is wrong with a subscription', async () => {
    const client = await openAuthenticated(service.url, service.admin.token);
    clients.push(client);
    const codeOf = async (message: Record<string, unknown>) => {
      const answer = await client.ask({ type: 'subscribe', collection: 'note', ...message });
      expect([answer.type, answer.status]).to.deep.equal(['subscribe', 'error']);
      return answer.error.code;
    };
    expect(await codeOf({ collection: 'missing' })).to.equal('INVALID_COLLECTION');
    expect(await codeOf({ collection: 7 })).to.equal('INVALID_PAYLOAD');
    expect(await codeOf({ event: 'other' })).to.equal('INVALID_PAYLOAD');
    expect(await codeOf({ item: {} })).to.equal('INVALID_PAYLOAD');
    expect(await codeOf({ query: 'text' })).to.equal('INVALID_PAYLOAD');
    expect(await codeOf({ query: { filter: { missing: { _eq: 1 } } } })).to.equal('FORBIDDEN');
    expect(await codeOf({ query: { filter: { title: { _what: 1 } } } })).to.equal('INVALID_QUERY');
    expect(await codeOf({ query: { aggregate: { count: '*' } } })).to.equal('INVALID_QUERY');
    expect(await codeOf({ event: 'create', query: { sort: 'missing' } })).to.equal('FORBIDDEN');
    expect(await codeOf({ item: 'no number' })).to.equal('FORBIDDEN');
    expect(client.closeCode).to.equal(undefined);
  });

  it('end with an error when their collection is deleted', async () => {
    const headers = { token: service.admin.token };
    await service.request('POST', '/collections', { ...headers, body: { collection: 'gone', schema: {} } });
    const client = await subscribe({ collection: 'gone' });
    await service.request('DELETE', '/collections/gone', headers);
    const end = await client.next(({ type }) => type === 'subscribe');
    expect([end.status, end.uid, end.error.code]).to.deep.equal(['error', 's', 'FORBIDDEN']);
  });

  it('read the columns that a table has after a change of the schema', async () => {
    const headers = { token: service.admin.token };
    await service.request('POST', '/collections', { ...headers, body: { collection: 'grows', schema: {} } });
    const client = await subscribe({ collection: 'grows' });
    await service.request('POST', '/fields/grows', { ...headers, body: { field: 'size', type: 'integer' } });
    await client.next(({ resync }) => resync === true);
    await service.request('POST', '/items/grows', { ...headers, body: { size: 5 } });
    expect((await client.next(({ event }) => event === 'create')).data[0]).to.include({ size: 5 });
  });
});
