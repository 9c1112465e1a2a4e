import { expect } from 'chai';
import { type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

describe('/graphql with keys of several columns', () => {
  let service: InProcessService;
  before(async () => {
    service = await startService();
    await service.database.query(`
      create table film (id int primary key, title text);
      create table film_actor (film_id int references film on delete cascade, actor text, role text, primary key (film_id, actor));
      create table note (id int primary key, film_id int, actor text, body text,
        foreign key (film_id, actor) references film_actor);
      create table heap (word text, n int);
      create type color as enum ('scarlet', 'blue');
      create table paint (color color, shade int, litres int, primary key (color, shade));
      insert into paint values ('scarlet', 1, 7), ('blue', 2, 8);
      insert into film values (1, 'one'), (2, 'two');
      insert into film_actor values (1, 'a', 'x'), (1, 'b,c', 'y'), (2, 'a', 'z');
      insert into note values (1, 1, 'b,c', 'first'), (2, null, 'a', 'second');
      insert into heap values ('a', 1)`);
    await requestAsAdmin(service, 'POST', '/fields/film', {
      field: 'parts',
      type: 'alias',
      meta: { special: ['o2m'] },
    });
    await requestAsAdmin(service, 'PATCH', '/relations/film_actor/film_id', { meta: { one_field: 'parts' } });
  });
  after(() => service?.stop());

  const ask = async (query: string, variables: object = {}) => {
    const { body } = await service.request('POST', '/graphql', {
      token: service.admin.token,
      body: { query, variables },
    });
    return body.errors ? { errors: body.errors } : body.data;
  };

  it('queries read rows by an input of the key, through relations and by filters', async () => {
    expect(
      await ask(`{ film_actor_by_id(id: { film_id: 1, actor: "b,c" }) { role film_id { title } } }`),
    ).to.deep.equal({ film_actor_by_id: { role: 'y', film_id: { title: 'one' } } });
    expect(
      await ask('query ($id: film_actor_key_input!) { film_actor_by_id(id: $id) { role } }', {
        id: { actor: 'a', film_id: 2 },
      }),
    ).to.deep.equal({ film_actor_by_id: { role: 'z' } });
    expect(await ask('{ note(sort: ["id"]) { body film_actor { role } } }')).to.deep.equal({
      note: [
        { body: 'first', film_actor: { role: 'y' } },
        { body: 'second', film_actor: null },
      ],
    });
    expect(await ask('{ note(filter: { film_actor: { role: { _eq: "y" } } }) { id } }')).to.deep.equal({
      note: [{ id: '1' }],
    });
    expect(
      await ask('{ film(sort: ["id"]) { parts { actor } } film_actor_aggregated { count { film_id } } }'),
    ).to.deep.equal({
      film: [{ parts: [{ actor: 'a' }, { actor: 'b,c' }] }, { parts: [{ actor: 'a' }] }],
      film_actor_aggregated: [{ count: { film_id: 3 } }],
    });
  });

  it('the key is an ID, and its columns are not in the schema, where the caller may not read one of them', async () => {
    const { token } = await createUserWithPermissions(service, [
      { collection: 'paint', action: 'read', fields: ['shade', 'litres'] },
      { collection: 'paint', action: 'delete' },
    ]);
    const as = async (query: string) => (await service.request('POST', '/graphql', { token, body: { query } })).body;
    const types = JSON.stringify(
      await as('{ __schema { types { name fields { name } inputFields { name } enumValues { name } } } }'),
    );
    expect(types).not.to.match(/color|scarlet|key_input/);
    expect(await as('{ paint_by_id(id: "scarlet,1") { litres } }')).to.deep.equal({
      data: { paint_by_id: { litres: 7 } },
    });
    expect(await as('mutation { delete_paint_items(ids: ["scarlet,1"]) { ids } }')).to.deep.equal({
      data: { delete_paint_items: { ids: ['scarlet,1'] } },
    });
  });

  it('a document with an escape of any length in a path is answered', async () => {
    const sort = [`_u${'0020'.repeat(150_000)}_`];
    const answer = await ask('query ($sort: [String]) { film(sort: $sort) { id } }', { sort });
    expect(answer.errors?.[0].extensions.code).not.to.equal('INTERNAL_SERVER_ERROR');
  });

  it('a key without one of its columns is refused', async () => {
    const { errors } = await ask('{ film_actor_by_id(id: { film_id: 1 }) { role } }');
    expect(errors[0].extensions.code).to.equal('GRAPHQL_VALIDATION_EXCEPTION');
  });

  it('mutations create, update and delete rows by an input of the key', async () => {
    const created =
      await ask(`mutation { create_film_actor_items(data: [{ film_id: { id: 2, title: "zwei" }, actor: "n", role: "1" },
      { film_id: { id: 2 }, actor: "m", role: "2" }], sort: ["actor"]) { actor film_id { title } } }`);
    expect(created).to.deep.equal({
      create_film_actor_items: [
        { actor: 'm', film_id: { title: 'zwei' } },
        { actor: 'n', film_id: { title: 'zwei' } },
      ],
    });
    const changed = await ask(`mutation {
      update_film_actor_item(id: { film_id: 2, actor: "n" }, data: { role: "3" }) { role }
      update_film_actor_items(ids: [{ film_id: 2, actor: "n" }, { film_id: 2, actor: "m" }], data: { role: "4" }) { actor role }
      update_film_actor_batch(data: [{ film_id: { id: 2 }, actor: "m", role: "5" }]) { role } }`);
    expect(changed).to.deep.equal({
      update_film_actor_item: { role: '3' },
      update_film_actor_items: [
        { actor: 'n', role: '4' },
        { actor: 'm', role: '4' },
      ],
      update_film_actor_batch: [{ role: '5' }],
    });
    expect(
      await ask(`mutation { delete_film_actor_item(id: { film_id: 2, actor: "n" }) { id }
        delete_film_actor_items(ids: [{ film_id: 2, actor: "m" }]) { ids } }`),
    ).to.deep.equal({ delete_film_actor_item: { id: '2,n' }, delete_film_actor_items: { ids: ['2,m'] } });
  });

  it('a table without a key has lists, groups and create mutations, and no field that takes a key', async () => {
    expect(await ask('mutation { create_heap_item(data: { word: "b", n: 2 }) { word n } }')).to.deep.equal({
      create_heap_item: { word: 'b', n: 2 },
    });
    expect(await ask('{ heap(sort: ["word"]) { word } heap_aggregated { countAll } }')).to.deep.equal({
      heap: [{ word: 'a' }, { word: 'b' }],
      heap_aggregated: [{ countAll: 2 }],
    });
    const { __schema } = await ask('{ __schema { queryType { fields { name } } mutationType { fields { name } } } }');
    const names = [...__schema.queryType.fields, ...__schema.mutationType.fields].map(({ name }) => name);
    expect(names.filter((name) => name.includes('heap'))).to.deep.equal([
      'heap',
      'heap_aggregated',
      'create_heap_item',
      'create_heap_items',
    ]);
  });
});
