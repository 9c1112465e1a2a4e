import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type HttpReply, type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, type TestUserWithToken } from './test-users.ts';

const outcome = ({ status, body }: HttpReply) => [status, body?.errors?.[0]?.extensions?.code];
const NOT_FOUND = [404, 'ROUTE_NOT_FOUND'];
const FORBIDDEN = [403, 'FORBIDDEN'];

describe('unserved tables and unknown names', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  let person: TestUserWithToken;
  before(async () => {
    database = await createMigratedDatabase('unserved');
    await database.query(`
      create table platform_other (id int primary key);
      create table known (id int primary key, name text);
      insert into known values (1, 'one');
      create materialized view never_filled as select id, name from known with no data;
      create view over_it as select * from never_filled`);
    service = await startService({ database, env: { LOG_LEVEL: 'warn' } });
    person = await createUserWithPermissions(service, [
      { collection: 'known', action: 'read' },
      { collection: 'absent', action: 'read' },
      ...['collections', 'fields', 'relations'].map((name) => ({
        collection: `platform_${name}`,
        action: 'read' as const,
      })),
    ]);
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const asAdmin = (method: string, path: string, body?: unknown) =>
    service.request(method, path, { token: service.admin.token, body });
  const asPerson = (method: string, path: string, body?: unknown) =>
    service.request(method, path, { token: person.token, body });

  const UNSERVED = [
    {
      schema: 'public',
      name: 'platform_other',
      reason: 'names that begin with platform_ are reserved for the service: rename it',
    },
  ];

  it('the log names unserved tables in one line at the start', () => {
    const lines = service.log.filter(({ msg }) => String(msg).includes('not served'));
    expect(lines.map(({ level }) => level)).to.deep.equal([40]);
    expect(lines[0]?.msg).to.equal(
      `1 of the database's tables are not served: ${UNSERVED.map((one) => `${one.schema}.${one.name} (${one.reason})`).join('; ')}`,
    );
  });

  it('GET /collections names unserved tables to admins only', async () => {
    expect((await asAdmin('GET', '/collections')).body.meta).to.deep.equal({ unserved: UNSERVED });
    const { status, body } = await asPerson('GET', '/collections');
    expect([status, Object.keys(body)]).to.deep.equal([200, ['data']]);
  });

  it('a table with a reserved name is 403 at /items, with the reason for an admin', async () => {
    const reply = await asAdmin('GET', '/items/platform_other');
    expect(outcome(reply)).to.deep.equal(FORBIDDEN);
    expect(reply.body.errors[0].extensions.reason).to.match(/begin with platform_ are reserved/);
    const other = await asPerson('GET', '/items/platform_other');
    expect(other.body.errors[0].extensions).to.deep.equal({ code: 'FORBIDDEN' });
  });

  const ABSENT: readonly [method: string, path: string, body?: unknown][] = [
    ['GET', '/items/absent'],
    ['GET', '/items/absent/1'],
    ['SEARCH', '/items/absent', { query: {} }],
    ['POST', '/items/absent', {}],
    ['POST', '/items/absent', [{}]],
    ['PATCH', '/items/absent', { keys: [1], data: {} }],
    ['PATCH', '/items/absent', [{ id: 1 }]],
    ['PATCH', '/items/absent/1', {}],
    ['DELETE', '/items/absent', [1]],
    ['DELETE', '/items/absent/1'],
    ['GET', '/collections/absent'],
    ['PATCH', '/collections/absent', { meta: {} }],
    ['DELETE', '/collections/absent'],
    ['GET', '/fields/absent'],
    ['GET', '/fields/known/absent'],
    ['PATCH', '/fields/known/absent', { meta: {} }],
    ['DELETE', '/fields/known/absent'],
    ['GET', '/relations/known/absent'],
    ['DELETE', '/relations/known/absent'],
  ];
  for (const [method, path, body] of ABSENT) {
    it(`${method} ${path} ${body ? JSON.stringify(body) : ''} is 404 for an admin and 403 for other callers`, async () => {
      expect(outcome(await asAdmin(method, path, body))).to.deep.equal(NOT_FOUND);
      expect(outcome(await asPerson(method, path, body))).to.deep.equal(FORBIDDEN);
    });
  }

  it('an unknown row is 403 for reads and changes, and 204 for a delete by an admin', async () => {
    expect(outcome(await asAdmin('GET', '/items/known/9'))).to.deep.equal(FORBIDDEN);
    expect(outcome(await asAdmin('PATCH', '/items/known/9', { name: 'x' }))).to.deep.equal(FORBIDDEN);
    expect((await asAdmin('DELETE', '/items/known/9')).status).to.equal(204);
  });

  // PostgreSQL refuses to read `never_filled`, a materialized view that was created "with no data", until an admin refreshes it.
  // The service serves such a view, so the reader learns what is missing from the error.
  describe('GET /items of a materialized view without data', () => {
    const reason = 'The materialized view never_filled was never filled: run REFRESH MATERIALIZED VIEW never_filled.';

    it('GET /items answers 503, and the reason names the statement that fills the view', async () => {
      for (const path of ['/items/never_filled', '/items/never_filled?limit=-1', '/items/never_filled?export=csv']) {
        const reply = await asAdmin('GET', path);
        expect(outcome(reply), path).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
        expect(reply.body.errors[0].extensions, path).to.include({ service: 'database', reason });
      }
    });

    // The error names only the collection of the request: a caller of `over_it` may have no permission for `never_filled`.
    it('GET /items of a view that reads the materialized view answers 503 without its name', async () => {
      const reply = await asAdmin('GET', '/items/over_it');
      expect(outcome(reply)).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
      expect(JSON.stringify(reply.body))
        .to.match(/REFRESH MATERIALIZED VIEW/)
        .and.not.match(/never_filled/);
    });

    it('POST /graphql answers the same code and reason', async () => {
      const { body } = await asAdmin('POST', '/graphql', { query: '{ never_filled { name } }' });
      expect(body.errors?.[0].extensions, JSON.stringify(body)).to.include({ code: 'SERVICE_UNAVAILABLE', reason });
    });

    it('GET /items answers the rows once the materialized view is refreshed', async () => {
      await database.query('refresh materialized view never_filled');
      expect((await asAdmin('GET', '/items/never_filled')).body.data).to.deep.equal([{ id: 1, name: 'one' }]);
    });
  });
});
