import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { OpenApiDocument } from '../../../plugins/openapi/contract.ts';
import { createUserWithPermissions, requestAsAdmin } from '../../http/test-users.ts';
import { clientLibrary, createAdminClient } from '../../support/client-library.ts';
import type { FreshDatabase } from '../../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../../support/service.ts';
import { createSchemaCheck, listOperations, readDocument } from './document-check.ts';

const PATH = '/server/specs/oas';

describe('GET /server/specs/oas', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  const send = (token?: string, headers = {}) => service.request('GET', PATH, { token, headers });
  const methodsAt = (document: OpenApiDocument, path: string) =>
    listOperations(document)
      .filter((one) => one.path === path)
      .map(({ method }) => method)
      .sort();

  before(async () => {
    database = await createMigratedDatabase('openapi');
    await database.query(`
      create type mood as enum ('sad', 'happy');
      create table author (id int generated always as identity primary key, name text not null, secret text);
      comment on table author is 'Who writes.';
      create table "Blog Post" (
        id uuid primary key default gen_random_uuid(), title varchar(40) not null, author int references author,
        state mood not null default 'sad', price numeric(8,2), views bigint, score float8, day date, at timestamptz,
        tags text[], extra jsonb, raw bytea, __proto__ text);
      create table log (line text);
      create view titles as select title from "Blog Post";
      insert into author (name, secret) values ('Ann', 's');
      insert into "Blog Post" (title, author, price, views, score, day, at, tags, extra, raw)
        values ('one', 1, 1.5, 9007199254740993, 'NaN', '2026-01-31', now(), '{a}', '{"a":1}', 'x'), ('two', null, null, null, 1.5, null, null, null, null, null);
    `);
    service = await startService({ database, env: { PUBLIC_URL: 'https://api.example.com/v1/' } });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  it('answers a bare document with the address of the service and a hash of its content', async () => {
    const document = await readDocument(service, service.admin.token);
    expect(document.openapi).to.equal('3.1.0');
    expect(document.servers).to.deep.equal([{ url: 'https://api.example.com/v1' }]);
    const { version } = document.info;
    const hashed = createHash('sha256').update(
      JSON.stringify({ ...document, info: { ...document.info, version: '' } }),
    );
    expect(version).to.equal(hashed.digest('hex').slice(0, 16));
  });

  it('answers 304 for its entity tag, and gzip to clients that accept it', async () => {
    const { headers, body } = await send(service.admin.token);
    const tag = headers.get('etag') as string;
    expect(headers.get('vary')).to.include('Authorization');
    expect((await send(service.admin.token, { 'if-none-match': tag, 'cache-control': 'max-age=0' })).status).to.equal(
      304,
    );
    expect((await send(undefined, { 'if-none-match': tag, 'cache-control': 'max-age=0' })).status).to.equal(200);
    const plain = await fetch(service.url + PATH, { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).to.equal(null);
    const packed = await send(service.admin.token, { 'accept-encoding': 'gzip' });
    expect(packed.headers.get('content-encoding')).to.equal('gzip');
    expect(packed.body).to.deep.equal(body);
  });

  it('has no collections for callers without permissions, and all other tags', async () => {
    const document = await readDocument(service);
    expect(document.tags.filter((tag) => tag['x-collection'])).to.deep.equal([]);
    const names = document.tags.map(({ name }) => name);
    expect(names).to.include.members(['Server', 'Auth', 'Schema', 'Utilities', 'Extensions', 'Users', 'Assets']);
    expect(Object.keys(document.paths).filter((path) => path.startsWith('/items/'))).to.deep.equal([]);
    expect(document.paths['/users/me']).to.have.property('get');
    expect(document.paths).not.to.have.property('/users');
    expect(JSON.stringify(document)).not.to.match(/Blog Post|author|PlatformUsers"/);
  });

  it('has the readable collections of a caller, their readable fields, and what the caller may do', async () => {
    const { token } = await createUserWithPermissions(service, [
      { collection: 'Blog Post', action: 'read', fields: ['id', 'title', 'author'] },
      { collection: 'Blog Post', action: 'update', fields: ['title', 'price'], permissions: { title: { _eq: 'one' } } },
      { collection: 'author', action: 'create' },
      { collection: 'platform_folders', action: 'read' },
    ]);
    const document = await readDocument(service, token);
    expect(methodsAt(document, '/items/Blog%20Post')).to.deep.equal(['GET', 'PATCH', 'SEARCH']);
    expect(methodsAt(document, '/items/Blog%20Post/{id}')).to.deep.equal(['GET', 'PATCH']);
    expect(methodsAt(document, '/folders')).to.deep.equal(['GET', 'SEARCH']);
    expect(methodsAt(document, '/items/author')).to.deep.equal([]);
    const collections = document.tags.flatMap((tag) => tag['x-collection'] ?? []);
    expect(collections).to.have.members(['platform_folders', 'Blog Post']);
    const names = Object.keys(document.components.schemas ?? {}).filter((name) => /^(Items|Platform)/.test(name));
    expect(names).to.have.length(3);
    const [row, input] = ['BlogPost', 'BlogPost'].map((_, at) => {
      const name = names.find((one) => one.startsWith('ItemsBlogPost_') && one.endsWith('Input') === (at === 1));
      return document.components.schemas?.[name as string] as {
        properties: Record<string, { type?: unknown; anyOf?: unknown }>;
      };
    });
    expect(Object.keys(row?.properties ?? {})).to.have.members(['id', 'title', 'author']);
    expect(Object.keys(input?.properties ?? {})).to.have.members(['title', 'price']);
    // The related collection is not readable, so that a row of it is never answered.
    expect(row?.properties.author).to.deep.equal({ type: ['integer', 'null'] });
  });

  it('describes the rows that the service answers and takes', async () => {
    const document = await readDocument(service, service.admin.token);
    const name = Object.keys(document.components.schemas ?? {}).find((one) =>
      /^ItemsBlogPost_[0-9a-f]{8}$/.test(one),
    ) as string;
    const check = createSchemaCheck(document);
    const { body } = await service.request('GET', '/items/Blog%20Post?fields=*,author.*', {
      token: service.admin.token,
    });
    expect(body.data).to.have.length(2);
    for (const row of body.data) expect(check(name, row)).to.equal(undefined);
    expect(check('ItemsAuthor', { name: 1 })).to.include('must be string');
    expect(check('ItemsAuthor', { name: null })).to.include('must be string');
    const { properties } = (document.components.schemas?.[name] ?? {}) as {
      properties: Record<string, { enum?: unknown }>;
    };
    expect(properties.state?.enum).to.deep.equal(['sad', 'happy']);
    expect(Object.keys(properties)).to.include('__proto__');
    expect(document.tags.find((tag) => tag['x-collection'] === 'author')).to.have.property('name', 'ItemsAuthor');
    expect(document.components.schemas?.ItemsAuthor).to.include({ description: 'Who writes.' });
    const input = document.components.schemas?.[`${name}Input`] as { properties: object };
    expect(document.components.schemas?.ItemsAuthorInput).not.to.have.nested.property('properties.id');
    expect(input.properties)
      .to.have.property('views')
      .that.deep.equals({ type: ['string', 'integer', 'null'] });
    const created = { title: 'three', author: { name: 'Bea' }, views: 3, price: 2, tags: ['b'], day: '2026-02-01' };
    expect(check(`${name}Input`, created)).to.equal(undefined);
    await requestAsAdmin(service, 'POST', '/items/Blog%20Post', created);
  });

  it('has what tables without a key, views and singletons offer, and no more', async () => {
    await requestAsAdmin(service, 'POST', '/collections', {
      collection: 'front_page',
      schema: {},
      meta: { singleton: true },
      fields: [{ field: 'title', type: 'string' }],
    });
    const document = await readDocument(service, service.admin.token);
    expect(methodsAt(document, '/items/log')).to.deep.equal(['DELETE', 'GET', 'PATCH', 'POST', 'SEARCH']);
    expect(methodsAt(document, '/items/titles')).to.deep.equal(['GET', 'SEARCH']);
    expect(methodsAt(document, '/items/front_page')).to.deep.equal(['GET', 'PATCH', 'SEARCH']);
    for (const name of ['log', 'titles', 'front_page'])
      expect(document.paths).not.to.have.property(`/items/${name}/{id}`);
  });

  it('changes with permissions and tables at once', async () => {
    const { role, token } = await createUserWithPermissions(service, []);
    const before = await readDocument(service, token);
    expect(before.paths).not.to.have.property('/items/author');
    await requestAsAdmin(service, 'POST', '/permissions', {
      role,
      collection: 'author',
      action: 'read',
      fields: ['name'],
    });
    const after = await readDocument(service, token);
    expect(after.paths).to.have.property('/items/author');
    expect(after.info.version).not.to.equal(before.info.version);
    await requestAsAdmin(service, 'POST', '/fields/author', { field: 'added', type: 'string' });
    const admin = await readDocument(service, service.admin.token);
    expect(admin.components.schemas?.ItemsAuthor).to.have.nested.property('properties.added');
  });

  it('is answered to many callers at once, and by GraphQL', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => send(service.admin.token)));
    expect(new Set(replies.map(({ headers }) => headers.get('etag'))).size).to.equal(1);
    const { body } = await service.request('POST', '/graphql/system', {
      token: service.admin.token,
      body: { query: '{ server_specs_oas }' },
    });
    expect(body.data.server_specs_oas).to.deep.equal(replies[0]?.body);
  });

  it('is read by a published client library', async () => {
    const request = createAdminClient(service);
    expect(await request(clientLibrary.readOpenApiSpec())).to.have.property('openapi', '3.1.0');
  });

  it('is an unknown route with OPENAPI_ENABLED=false, as are its page and its field of GraphQL', async () => {
    const other = await startService({ database, env: { OPENAPI_ENABLED: 'false' } });
    try {
      for (const path of [PATH, `${PATH}/page`]) {
        const { status, body } = await other.request('GET', path, { token: other.admin.token });
        expect([status, body.errors[0].extensions.code]).to.deep.equal([404, 'ROUTE_NOT_FOUND']);
      }
      const { body } = await other.request('POST', '/graphql/system', {
        token: other.admin.token,
        body: { query: '{ server_specs_oas }' },
      });
      expect(body.errors).to.have.length(1);
    } finally {
      await other.stop();
    }
  });
});
