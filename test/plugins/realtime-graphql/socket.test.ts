import { expect } from 'chai';
import { createUserWithPermissions, requestAsAdmin } from '../../http/test-users.ts';
import type { InProcessService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import {
  connectSocket,
  dataOf,
  runOnce,
  type SocketClient,
  startRealtimeService,
  watch,
  watchFromNow,
} from './realtime-graphql-fixture.ts';

describe('GraphQL subscriptions by a socket, with the client of graphql-ws', function () {
  this.timeout(120_000);
  let service: InProcessService;
  let admin: SocketClient;
  const clients: SocketClient[] = [];

  before(async () => {
    service = await startRealtimeService();
    admin = connectSocket(service, { token: service.admin.token });
  });
  afterEach(() => Promise.all(clients.splice(0).map((one) => one.dispose())));
  after(async () => {
    await admin?.dispose();
    await service?.stop();
  });

  const connect = (token?: string) => {
    const client = connectSocket(service, { token });
    clients.push(client);
    return client;
  };
  const sql = (text: string) => service.database.query(text);

  it('a subscription gets a response for each created, updated and deleted row, as the conventions have it', async () => {
    const watched = await watchFromNow(admin, 'subscription { author_mutated { key event data { id name } } }');
    await requestAsAdmin(service, 'POST', '/items/author', { id: 100, name: 'Cat' });
    await watched.received(1);
    await requestAsAdmin(service, 'PATCH', '/items/author/100', { name: 'Cay' });
    await watched.received(2);
    await requestAsAdmin(service, 'DELETE', '/items/author/100');
    expect(dataOf(await watched.received(3))).to.deep.equal([
      { author_mutated: { key: '100', event: 'create', data: { id: '100', name: 'Cat' } } },
      { author_mutated: { key: '100', event: 'update', data: { id: '100', name: 'Cay' } } },
      { author_mutated: { key: '100', event: 'delete', data: null } },
    ]);
    watched.end();
  });

  it('a response has no member but "data" where the client does not ask for positions', async () => {
    const watched = watch(admin, 'subscription { author_mutated(event: update) { key } }');
    await until(async () => {
      await sql(`update author set name = 'Ann' where id = 1`);
      return watched.responses.length > 0;
    });
    expect(watched.responses[0]).to.deep.equal({ data: { author_mutated: { key: '1' } } });
    watched.end();
  });

  it('"event" selects one kind of changes, by a literal or a variable', async () => {
    const query = 'subscription ($event: EventEnum) { author_mutated(event: $event) { event key } }';
    const [created, deleted] = await Promise.all([
      watchFromNow(admin, 'subscription { author_mutated(event: create) { event key } }'),
      watchFromNow(admin, query, { variables: { event: 'delete' } }),
    ]);
    await sql(`insert into author (id, name) values (101, 'x')`);
    await created.received(1);
    await sql(`update author set name = 'y' where id = 101`);
    await sql('delete from author where id = 101');
    await deleted.received(1);
    await sql(`insert into author (id, name) values (102, 'z')`);
    const changes = (event: string, ...keys: string[]) => keys.map((key) => ({ author_mutated: { event, key } }));
    expect(dataOf(await created.received(2))).to.deep.equal(changes('create', '101', '102'));
    expect(dataOf(deleted.responses)).to.deep.equal(changes('delete', '101'));
    created.end();
    deleted.end();
  });

  it('aliases, fragments, "__typename", relations and several "data" are answered in the order of the document', async () => {
    const watched = await watchFromNow(
      admin,
      `subscription { changed: book_mutated(event: update) {
        data { ...names author { name books: id } }
        __typename k: key e: event again: key
        other: data { __typename price meta author(filter: { name: { _eq: "no" } }) { id } }
      } } fragment names on book { heading: title }`,
    );
    const hairy = '{"quote":"a\\"b\\\\","list":[{"x":"}],:"}],  "n":1.50}';
    await service.database.query('update book set meta = $1, title = $2 where id = 1', [hairy, 'say "{[,:]}" \\']);
    const [response] = await watched.received(1);
    expect(JSON.stringify(response.data)).to.equal(
      JSON.stringify({
        changed: {
          data: { heading: 'say "{[,:]}" \\', author: { name: 'Ann', books: '1' } },
          __typename: 'book_mutated',
          k: '1',
          e: 'update',
          again: '1',
          other: {
            __typename: 'book',
            price: Number('12345678901234567890.10'),
            meta: JSON.parse(hairy),
            author: null,
          },
        },
      }),
    );
    watched.end();
  });

  it('a statement that changes several rows is one response for each, and a composite key is its text', async () => {
    const watched = await watchFromNow(admin, 'subscription { pair_mutated { key event data { a b } } }');
    await sql('insert into pair (a, b) select 1, n from generate_series(1, 3) n');
    const rows = dataOf(await watched.received(3)).map(({ pair_mutated: one }) => one);
    expect(rows.sort((left, right) => left.data.b - right.data.b)).to.deep.equal(
      [1, 2, 3].map((b) => ({ key: `1,${b}`, event: 'create', data: { a: 1, b } })),
    );
    watched.end();
  });

  it('system collections are subscribed to under their whole names', async () => {
    const watched = await watchFromNow(admin, 'subscription { platform_folders_mutated { event data { name } } }');
    await requestAsAdmin(service, 'POST', '/folders', { name: 'new' });
    expect(dataOf(await watched.received(1))).to.deep.equal([
      { platform_folders_mutated: { event: 'create', data: { name: 'new' } } },
    ]);
    watched.end();
  });

  it('queries and mutations run over the same socket, and see its caller', async () => {
    const query = 'query ($id: ID!) { author_by_id(id: $id) { name } }';
    expect(await runOnce(admin, query, { variables: { id: 2 } })).to.deep.equal({
      data: { author_by_id: { name: 'Ben' } },
    });
    const created = await runOnce(admin, 'mutation { create_author_item(data: { name: "Dan" }) { name } }');
    expect(created).to.deep.equal({ data: { create_author_item: { name: 'Dan' } } });
    const failed = await runOnce(admin, '{ author_by_id(id: 99999) { name } }');
    expect([failed.data, failed.errors[0].extensions.code]).to.deep.equal([{ author_by_id: null }, 'FORBIDDEN']);
    await sql(`insert into line select repeat('long ', 20) from generate_series(1, 2000)`);
    expect((await runOnce(admin, '{ line(limit: -1) { text } }')).data.line).to.have.length(2000);
    const [activity] = await requestAsAdmin(
      service,
      'GET',
      '/activity?filter[collection][_eq]=author&sort=-id&limit=1',
    );
    expect(activity.action).to.equal('create');
    const reader = await createUserWithPermissions(service, [
      { collection: 'book', action: 'read', fields: ['title'] },
    ]);
    const asReader = connect(reader.token);
    expect(await runOnce(asReader, '{ book_by_id(id: 2) { title } }')).to.deep.equal({
      data: { book_by_id: { title: 'second' } },
    });
    expect((await runOnce(asReader, '{ author { name } }'))[0].extensions.code).to.equal(
      'GRAPHQL_VALIDATION_EXCEPTION',
    );
  });

  it('rows that the caller may not read are left out, and a key that he may not read is null', async () => {
    const rule = { name: { _eq: 'open' } };
    const user = await createUserWithPermissions(service, [
      { collection: 'author', action: 'read', fields: ['name'], permissions: rule },
    ]);
    const watched = await watchFromNow(
      connect(user.token),
      'subscription { author_mutated { key event data { name } } }',
    );
    await sql(`insert into author (id, name) values (201, 'closed'), (202, 'open')`);
    await watched.received(1);
    await sql('delete from author where id = 201');
    await sql('delete from author where id = 202');
    expect(dataOf(await watched.received(2))).to.deep.equal([
      { author_mutated: { key: null, event: 'create', data: { name: 'open' } } },
      { author_mutated: { key: null, event: 'delete', data: null } },
    ]);
  });

  it('a permission that changes takes effect with the next response', async () => {
    const user = await createUserWithPermissions(service, [
      { collection: 'author', action: 'read', fields: ['id', 'name'] },
    ]);
    const [permission] = await requestAsAdmin(service, 'GET', `/permissions?filter[role][_eq]=${user.role}`);
    const change = (value: object) => requestAsAdmin(service, 'PATCH', `/permissions/${permission.id}`, value);
    const client = connect(user.token);
    const watched = await watchFromNow(client, 'subscription { author_mutated { key data { name } } }');
    const names = await watchFromNow(client, 'subscription { author_mutated { data { name } } }');

    await change({ permissions: { name: { _eq: 'seen' } } });
    await sql(`insert into author (id, name) values (301, 'unseen')`);
    await sql(`insert into author (id, name) values (302, 'seen')`);
    expect(dataOf(await watched.received(1))).to.deep.equal([
      { author_mutated: { key: '302', data: { name: 'seen' } } },
    ]);

    await change({ fields: ['name'] });
    await sql(`insert into author (id, name) values (303, 'seen')`);
    expect(dataOf(await watched.received(2)).at(-1)).to.deep.equal({
      author_mutated: { key: null, data: { name: 'seen' } },
    });

    await change({ fields: ['id'] });
    await sql(`update author set name = 'seen' where id = 303`);
    await until(() => names.failure() !== undefined);
    expect(names.failure()[0].extensions.code).to.equal('GRAPHQL_VALIDATION_EXCEPTION');
    expect(names.responses).to.have.length(2);
    expect(client.closed()).to.equal(undefined);
  });

  it('a query is cancelled when its client completes it', async () => {
    await sql(`create view slow as select 1 as id, pg_sleep(30)::text as text`);
    await requestAsAdmin(service, 'GET', '/utils/cache/clear').catch(() => {});
    const watched = watch(admin, '{ slow { text } }');
    const running = () =>
      sql(`select 1 from pg_stat_activity where state = 'active' and query like '%slow%' and pid <> pg_backend_pid()`);
    await until(async () => (await running()).length > 0);
    watched.end();
    await until(async () => (await running()).length === 0);
  });
});
