import { expect } from 'chai';
import { createTestUserAccount, makeRole, type TestUserAccount } from '../plugins/users/test-users.ts';
import { type HttpReply, type InProcessService, startService } from '../support/service.ts';

// The selections name all members, so that the tests find members that only REST or only GraphQL answers.
const COLLECTION = `collection
  meta { collection icon note color display_template hidden singleton translations archive_field archive_value
    unarchive_value archive_app_filter sort_field accountability item_duplication_fields sort group collapse system }
  schema { schema name comment }`;
const FIELD = `collection field type
  meta { id collection field special interface options display display_options readonly hidden required sort width group
    translations note conditions validation validation_message searchable system }
  schema { name table data_type default_value generation_expression max_length numeric_precision numeric_scale is_generated
    is_nullable is_unique is_indexed is_primary_key has_auto_increment foreign_key_schema foreign_key_table
    foreign_key_column comment enum_values }`;
const RELATION = `collection field related_collection
  meta { id many_collection many_field one_collection one_field one_collection_field one_allowed_collections
    junction_field sort_field one_deselect_action system }
  schema { constraint_name table column foreign_key_schema foreign_key_table foreign_key_column on_update on_delete }`;

type Record_ = Readonly<Record<string, unknown>>;

/** Adds `system: null` to a REST record without `system`, as GraphQL answers it. */
function withSystem(record: Record_): Record_ {
  const { meta } = record as { meta: Record_ | null };
  return meta === null ? record : { ...record, meta: { system: null, ...meta } };
}

describe('/graphql/system: collections, fields and relations', function () {
  this.timeout(120_000);
  let service: InProcessService;
  let person: TestUserAccount;
  const ask = (token: string | null, query: string, variables?: object): Promise<HttpReply> =>
    service.request('POST', '/graphql/system', { token, body: { query, variables } });
  const admin = async (query: string, variables?: object) => {
    const { status, body } = await ask(service.admin.token, query, variables);
    expect([status, body.errors], JSON.stringify(body.errors)).to.deep.equal([200, undefined]);
    return body.data;
  };
  const rest = async (path: string, token = service.admin.token) =>
    (await service.request('GET', path, { token })).body.data;
  const codeOf = ({ status, body }: HttpReply) => [status, body.errors?.[0].extensions.code];

  before(async () => {
    service = await startService();
    await service.database.query(`create table authors (id serial primary key, name text not null, secret text);
      create table books (id serial primary key, title varchar(80) default 'Untitled', price numeric(9, 2),
        author int references authors on delete cascade);
      create table stock (id serial primary key)`);
    person = await createTestUserAccount(
      service,
      await makeRole(service, { app_access: true }, [
        { collection: 'authors', action: 'read', fields: ['id', 'name'] },
        { collection: 'books', action: 'read', fields: ['id', 'title'] },
      ]),
    );
  });
  after(() => service?.stop());

  it('collections, fields and relations are answered as by REST, member by member', async () => {
    const shown = await admin(`{ collections { ${COLLECTION} } fields { ${FIELD} } relations { ${RELATION} } }`);
    for (const name of ['collections', 'fields', 'relations']) {
      expect(shown[name], name).to.deep.equal((await rest(`/${name}`)).map(withSystem));
    }
  });

  it('collections, fields and relations are answered by name', async () => {
    const shown = await admin(`{
      collections_by_name(name: "books") { ${COLLECTION} }
      fields_in_collection(collection: "books") { ${FIELD} }
      fields_by_name(collection: "books", field: "author") { ${FIELD} }
      relations_in_collection(collection: "books") { ${RELATION} }
      relations_by_name(collection: "books", field: "author") { ${RELATION} }
    }`);
    expect(shown).to.deep.equal({
      collections_by_name: withSystem(await rest('/collections/books')),
      fields_in_collection: (await rest('/fields/books')).map(withSystem),
      fields_by_name: withSystem(await rest('/fields/books/author')),
      relations_in_collection: (await rest('/relations/books')).map(withSystem),
      relations_by_name: withSystem(await rest('/relations/books/author')),
    });
  });

  it('a caller that is no admin sees only collections and fields it may read', async () => {
    const query = `{ collections { collection } fields { ${FIELD} } relations { collection field } }`;
    const { body } = await ask(person.token, query);
    expect(body.errors).to.equal(undefined);
    const names = body.data.collections.map(({ collection }: Record_) => collection);
    expect(names).to.include.members(['books', 'authors']).and.not.include('stock');
    expect(body.data.fields).to.deep.equal((await rest('/fields', person.token)).map(withSystem));
    const mine = body.data.fields.filter(({ collection }: Record_) => !String(collection).startsWith('platform_'));
    expect(mine.map(({ collection, field }: Record_) => `${collection}.${field}`)).to.have.members([
      'books.id',
      'books.title',
      'authors.id',
      'authors.name',
    ]);
    expect(body.data.relations.filter(({ collection }: Record_) => collection === 'books')).to.deep.equal([]);
    for (const field of [
      'collections_by_name(name: "stock") { collection }',
      'collections_by_name(name: "nothing") { collection }',
      'fields_in_collection(collection: "stock") { field }',
      'fields_by_name(collection: "books", field: "price") { field }',
      'relations_in_collection(collection: "stock") { field }',
      'relations_by_name(collection: "books", field: "author") { field }',
    ]) {
      expect(codeOf(await ask(person.token, `{ ${field} }`)), field).to.deep.equal([200, 'FORBIDDEN']);
    }
  });

  it('the query fields need a read permission, and the mutations are in the schema of admins only', async () => {
    const invalid = [400, 'GRAPHQL_VALIDATION_EXCEPTION'];
    for (const query of ['collections { collection }', 'fields { field }', 'relations { field }'])
      expect(codeOf(await ask(null, `{ ${query} }`)), query).to.deep.equal(invalid);
    for (const mutation of [
      'create_collections_item(data: { collection: "a", schema: {} }) { collection }',
      'update_collections_item(collection: "books", data: { meta: { hidden: true } }) { collection }',
      'delete_collections_item(collection: "books") { collection }',
      'create_fields_item(collection: "books", data: { field: "a", type: "string" }) { field }',
      'update_fields_item(collection: "books", field: "title", data: { meta: { hidden: true } }) { field }',
      'delete_fields_item(collection: "books", field: "title") { field }',
      'create_relations_item(data: { collection: "books", field: "a", related_collection: "authors" }) { field }',
      'update_relations_item(collection: "books", field: "author", data: { meta: { sort_field: "id" } }) { field }',
      'delete_relations_item(collection: "books", field: "author") { field }',
    ]) {
      expect(codeOf(await ask(person.token, `mutation { ${mutation} }`)), mutation).to.deep.equal(invalid);
    }
    expect(await rest('/fields/books/title')).to.deep.include({ field: 'title' });
  });

  it('admins create, update and delete collections, fields and relations', async () => {
    const created = await admin(
      `mutation ($data: create_platform_collections_input!) { create_collections_item(data: $data) { ${COLLECTION} } }`,
      {
        data: {
          collection: 'recipes',
          meta: { note: 'What we cook', translations: [{ language: 'de-DE', translation: 'Rezepte' }] },
          schema: {},
          fields: [{ field: 'title', type: 'string', schema: { max_length: 40, default_value: 'Soup' } }],
        },
      },
    );
    expect(created.create_collections_item).to.deep.equal(withSystem(await rest('/collections/recipes')));
    expect(await rest('/fields/recipes/title')).to.nested.include({
      'schema.max_length': 40,
      'schema.default_value': 'Soup',
    });

    const changed = await admin(`mutation {
      update_collections_item(collection: "recipes", data: { meta: { hidden: true } }) { meta { hidden note } }
      create_fields_item(collection: "recipes", data: { field: "author", type: "integer" }) { ${FIELD} }
      tags: create_fields_item(collection: "recipes", data: {
        field: "tags", type: "csv", meta: { special: ["cast-csv"], options: { choices: [{ text: "A", value: 1 }] } }
      }) { type meta { special options } }
      update_fields_item(collection: "recipes", field: "title", data: { meta: { note: "Short" }, schema: { is_nullable: false } }) {
        meta { note } schema { is_nullable max_length }
      }
      create_relations_item(data: {
        collection: "recipes", field: "author", related_collection: "authors", schema: { on_delete: "CASCADE" }
      }) { ${RELATION} }
      update_relations_item(collection: "recipes", field: "author", data: { schema: { on_delete: "SET NULL" } }) {
        schema { on_delete }
      }
    }`);
    expect(changed).to.deep.include({
      update_collections_item: { meta: { hidden: true, note: 'What we cook' } },
      tags: { type: 'csv', meta: { special: ['cast-csv'], options: { choices: [{ text: 'A', value: 1 }] } } },
      update_fields_item: { meta: { note: 'Short' }, schema: { is_nullable: false, max_length: 40 } },
      update_relations_item: { schema: { on_delete: 'SET NULL' } },
    });
    expect(changed.create_relations_item).to.deep.include({ field: 'author', related_collection: 'authors' });

    const deleted = await admin(`mutation {
      delete_relations_item(collection: "recipes", field: "author") { collection field }
      delete_fields_item(collection: "recipes", field: "tags") { collection field }
      delete_collections_item(collection: "recipes") { collection }
    }`);
    expect(deleted).to.deep.equal({
      delete_relations_item: { collection: 'recipes', field: 'author' },
      delete_fields_item: { collection: 'recipes', field: 'tags' },
      delete_collections_item: { collection: 'recipes' },
    });
    expect(await service.database.query(`select to_regclass('recipes')::text as recipes`)).to.deep.equal([
      { recipes: null },
    ]);
  });

  it('a folder whose metadata is removed is answered as null', async () => {
    await admin(
      'mutation { create_collections_item(data: { collection: "kitchen", meta: { icon: "folder" } }) { collection } }',
    );
    const forget = 'update_collections_item(collection: "kitchen", data: { meta: null }) { collection }';
    expect(await admin(`mutation { ${forget} }`)).to.deep.equal({ update_collections_item: null });
  });

  it('an invalid change is refused with the error of REST', async () => {
    for (const [mutation, code] of [
      ['create_collections_item(data: { collection: "books", schema: {} }) { collection }', 'INVALID_PAYLOAD'],
      ['delete_collections_item(collection: "platform_users") { collection }', 'INVALID_PAYLOAD'],
      ['create_fields_item(collection: "books", data: { field: "x", type: "money" }) { field }', 'INVALID_PAYLOAD'],
      ['delete_fields_item(collection: "nothing", field: "x") { field }', 'ROUTE_NOT_FOUND'],
      ['update_relations_item(collection: "books", field: "title", data: {}) { field }', 'ROUTE_NOT_FOUND'],
    ]) {
      const reply = await ask(service.admin.token, `mutation { ${mutation} }`);
      expect(codeOf(reply), mutation).to.deep.equal([200, code]);
      expect(Object.values(reply.body.data), mutation).to.deep.equal([null]);
    }
  });
});
