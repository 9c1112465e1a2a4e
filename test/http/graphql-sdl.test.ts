import { expect } from 'chai';
import { buildSchema, printSchema } from 'graphql';
import { type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin, type TestUserWithToken } from './test-users.ts';

const TABLES = `create table posts (id serial primary key, title text not null, secret text);
  create table drafts (id serial primary key)`;

describe('GET /server/specs/graphql', function () {
  this.timeout(120_000);
  let service: InProcessService;
  let reader: TestUserWithToken;
  before(async () => {
    service = await startService();
    await service.database.query(TABLES);
    reader = await createUserWithPermissions(service, [
      { collection: 'posts', action: 'read', fields: ['id', 'title'] },
    ]);
  });
  after(() => service?.stop());

  const sdl = (path: string, token: string | null = service.admin.token) => service.request('GET', path, { token });

  it('answers a download in the schema language, named after the project and the day', async () => {
    const { status, headers, body } = await sdl('/server/specs/graphql');
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.equal('text/plain; charset=utf-8');
    expect(headers.get('content-disposition')).to.match(/^attachment; filename="Tenon_\d{4}-\d\d-\d\d\.graphql"$/);
    expect(headers.get('vary')).to.contain('Authorization');
    expect(printSchema(buildSchema(body))).to.equal(body);
  });

  it('answers the schema of user collections, or with "/system" that of system collections', async () => {
    const [without, items, system] = await Promise.all(
      ['', '/items', '/system'].map((scope) => sdl(`/server/specs/graphql${scope}`)),
    );
    expect(items?.body).to.equal(without?.body);
    expect(items?.body)
      .to.match(/^ {2}posts\(/m)
      .and.not.match(/^ {2}users\(/m);
    expect(system?.body)
      .to.match(/^ {2}users\(/m)
      .and.not.match(/^ {2}posts\(/m);
  });

  it('answers ROUTE_NOT_FOUND for any other scope', async () => {
    for (const scope of ['other', 'ITEMS', '%20', 'items/more']) {
      const { status, body } = await sdl(`/server/specs/graphql/${scope}`);
      expect([status, body.errors[0].extensions.code], scope).to.deep.equal([404, 'ROUTE_NOT_FOUND']);
    }
  });

  it('answers the schema of the caller', async () => {
    const { body } = await sdl('/server/specs/graphql', reader.token);
    expect(body).to.contain('title: String!').and.not.contain('secret').and.not.contain('drafts');
    expect(body).not.to.contain('create_posts_item');
    const publicSchema = await sdl('/server/specs/graphql', null);
    expect(publicSchema.body).to.contain('_empty').and.not.contain('posts');
  });

  it('contains a new table as soon as the table is created', async () => {
    await requestAsAdmin(service, 'POST', '/collections', {
      collection: 'later',
      schema: {},
      fields: [{ field: 'id', type: 'integer', schema: { is_primary_key: true } }],
    });
    expect((await sdl('/server/specs/graphql')).body).to.match(/^type later \{/m);
  });

  it('answers the same by the field server_specs_graphql of /graphql/system', async () => {
    const query = '{ items: server_specs_graphql system: server_specs_graphql(scope: system) }';
    const reply = await service.request('POST', '/graphql/system', { token: reader.token, body: { query } });
    const [items, system] = await Promise.all(
      ['items', 'system'].map((scope) => sdl(`/server/specs/graphql/${scope}`, reader.token)),
    );
    expect(reply.body).to.deep.equal({ data: { items: items?.body, system: system?.body } });
  });
});

describe('GRAPHQL_INTROSPECTION=false', function () {
  this.timeout(120_000);
  let service: InProcessService;
  before(async () => {
    service = await startService({ env: { GRAPHQL_INTROSPECTION: 'false' } });
    await service.database.query(TABLES);
  });
  after(() => service?.stop());

  const post = (path: string, query: string, variables?: object) =>
    service.request('POST', path, { token: service.admin.token, body: { query, variables } });

  it('the schema is refused as a file, as a field and by introspection', async () => {
    for (const path of ['/server/specs/graphql', '/server/specs/graphql/items', '/server/specs/graphql/system']) {
      const { status, body } = await service.request('GET', path, { token: service.admin.token });
      expect([status, body.errors[0].extensions.code], path).to.deep.equal([403, 'FORBIDDEN']);
    }
    const field = await post('/graphql/system', '{ server_specs_graphql }');
    expect([field.status, field.body.data, field.body.errors[0].extensions.code]).to.deep.equal([
      200,
      { server_specs_graphql: null },
      'FORBIDDEN',
    ]);
    for (const query of ['{ __schema { queryType { name } } }', '{ __type(name: "posts") { name } }']) {
      const { status, body } = await post('/graphql', query);
      expect([status, body.errors[0].extensions.code], query).to.deep.equal([400, 'GRAPHQL_VALIDATION_EXCEPTION']);
    }
  });

  it('error messages suggest no names of fields or variables', async () => {
    const field = await post('/graphql', '{ posts { titel } }');
    expect(field.body.errors[0].message).to.equal('Cannot query field "titel" on type "posts".');
    const variable = await post('/graphql', 'query ($f: posts_filter) { posts(filter: $f) { id } }', {
      f: { titel: {} },
    });
    expect(variable.status).to.equal(400);
    expect(JSON.stringify(variable.body)).not.to.contain('Did you mean');
  });

  it('documents are answered, __typename included', async () => {
    const { body } = await post('/graphql', '{ __typename posts { __typename id } }');
    expect(body).to.deep.equal({ data: { __typename: 'Query', posts: [] } });
  });

  it('a browser gets no explorer', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const { status, body } = await service.request('GET', '/graphql', { headers });
    expect([status, body.errors[0].extensions.code]).to.deep.equal([400, 'INVALID_PAYLOAD']);
  });
});
