import { expect } from 'chai';
import pg from 'pg';
import { databaseServerUrl } from '../support/database.ts';
import { type InProcessService, startService } from '../support/service.ts';

describe('GET /server/health while the database is down', () => {
  let service: InProcessService;
  let server: pg.Client;
  before(async () => {
    server = new pg.Client({ connectionString: databaseServerUrl() });
    await server.connect();
    service = await startService({ env: { DB_POOL_WAIT_TIMEOUT: '2s' } });
    await server.query(`alter database "${service.database.name}" with allow_connections false`);
    await server.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
      service.database.name,
    ]);
  });
  after(async () => {
    await server?.query(`alter database "${service?.database.name}" with allow_connections true`);
    await service?.stop();
    await server?.end();
  });

  for (const [what, token] of [
    ['without a token', () => null],
    ['with an access token', () => service.admin.token],
    ['with a static token, which only the database knows', () => 'a-static-token'],
  ] as const) {
    it(`answers the health status to a request ${what}`, async () => {
      const { status, body, headers } = await service.request('GET', '/server/health', { token: token() });
      expect([status, body.status, body.errors]).to.deep.equal([503, 'error', undefined]);
      expect(headers.get('content-type')).to.match(/^application\/health\+json/);
      expect(headers.get('cache-control')).to.equal('no-store');
    });
  }

  it('shows admins the checks, with the database check failing', async () => {
    const { body } = await service.request('GET', '/server/health', { token: service.admin.token });
    expect(body.checks['pg:responseTime'][0].status).to.equal('error');
    expect(body.checks['storage:local:responseTime'][0].status).to.be.oneOf(['ok', 'warn']);
  });

  it('other routes and GraphQL answer an error', async () => {
    const { status, body } = await service.request('GET', '/users', { token: service.admin.token });
    expect([status, body.errors[0].extensions.code]).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
  });
});
