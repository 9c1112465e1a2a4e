import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import { createTestUserAccount, makeRole } from '../users/test-users.ts';

describe('routes of the server', () => {
  let service: InProcessService;
  before(async function () {
    this.timeout(120_000);
    service = await startService({
      env: { QUERY_LIMIT_MAX: '500', DB_HEALTHCHECK_THRESHOLD: '50s', STORAGE_LOCAL_HEALTHCHECK_THRESHOLD: '60s' },
    });
  });
  after(() => service?.stop());

  it('GET /server/ping answers "pong" as text', async () => {
    const { status, body, headers } = await service.request('GET', '/server/ping');
    expect([status, body, headers.get('content-type')]).to.deep.equal([200, 'pong', 'text/plain; charset=utf-8']);
  });

  it('GET /server/health shows the status to all callers, and the checks to admins', async () => {
    const publicView = await service.request('GET', '/server/health');
    expect(publicView.body).to.deep.equal({ status: 'ok' });
    expect(publicView.headers.get('content-type')).to.match(/^application\/health\+json/);
    expect(publicView.headers.get('cache-control')).to.equal('no-store');
    const admin = await service.request('GET', '/server/health', { token: service.admin.token });
    expect(admin.body).to.have.keys('status', 'releaseId', 'serviceId', 'checks');
    expect(admin.body.checks['pg:responseTime'][0]).to.include({
      componentType: 'datastore',
      status: 'ok',
      threshold: 50_000,
    });
    expect(admin.body.checks['storage:local:responseTime'][0].threshold).to.equal(60_000);
  });

  it('GET /server/info shows what the level of the caller allows', async () => {
    const publicView = (await service.request('GET', '/server/info')).body.data;
    expect(publicView).to.have.keys('project');
    expect(publicView.project).to.include({ default_language: 'en-US', project_logo: null });
    const { ask } = await createTestUserAccount(service, await makeRole(service));
    const someone = (await ask('GET', '/server/info')).body.data;
    expect(someone).to.have.keys('project', 'rateLimit', 'rateLimitGlobal', 'websocket', 'queryLimit');
    expect(someone.queryLimit).to.deep.equal({ default: 100, max: 500 });
    const admin = (await service.request('GET', '/server/info', { token: service.admin.token })).body.data;
    expect(admin.service.version).to.match(/^\d+\.\d+\.\d+/);
  });

  it('GET / answers links that lead to routes', async () => {
    const { status, body } = await service.request('GET', '/');
    expect([status, body.data.service]).to.deep.equal([200, 'Tenon']);
    for (const [name, link] of Object.entries<string>(body.data.links)) {
      const path = new URL(link.replace('<collection>', 'nothing'), `${service.url}/`).pathname;
      const method = name === 'login' ? 'POST' : 'GET';
      expect((await service.request(method, path)).status, path).to.be.oneOf([200, 400, 403]);
    }
    expect((await service.request('HEAD', '/')).status).to.equal(200);
    expect((await service.request('GET', '/nothing')).status).to.equal(404);
  });

  it('GET /robots.txt keeps search engines away', async () => {
    const { status, body, headers } = await service.request('GET', '/robots.txt');
    expect([status, body]).to.deep.equal([200, 'User-agent: *\nDisallow: /\n']);
    expect(headers.get('content-type')).to.equal('text/plain; charset=utf-8');
  });

  it('ROOT_REDIRECT, ROBOTS_TXT and HEALTHCHECK_SERVICES decide what GET /, /robots.txt and /server/health answer', async () => {
    const other = await startService({
      env: {
        ROOT_REDIRECT: './panel',
        ROBOTS_TXT: 'User-agent: *\\nAllow: /',
        HEALTHCHECK_SERVICES: 'pg,http:unfinishedBodies,postgers',
        LOG_LEVEL: 'warn',
      },
    });
    try {
      const { status, headers } = await other.request('GET', '/');
      expect([status, headers.get('location')]).to.deep.equal([302, './panel']);
      expect((await other.request('GET', '/robots.txt')).body).to.equal('User-agent: *\nAllow: /\n');
      const { checks } = (await other.request('GET', '/server/health', { token: other.admin.token })).body;
      expect(Object.keys(checks).filter((name) => !/^pg:|^http:unfinishedBodies$/.test(name))).to.deep.equal([]);
      expect(Object.keys(checks)).to.include.members(['pg:responseTime', 'http:unfinishedBodies']);
      expect(other.log.find(({ names }) => names !== undefined)?.names).to.deep.equal(['postgers']);
    } finally {
      await other.stop();
    }
  });

  it('with HEALTHCHECK_ENABLED=false there is no health, by REST and GraphQL, and no link to it', async () => {
    const other = await startService({ env: { HEALTHCHECK_ENABLED: 'false' } });
    try {
      expect((await fetch(`${other.url}/server/health`)).status).to.equal(404);
      expect((await other.request('GET', '/')).body.data.links).not.to.have.property('health');
      const { body } = await other.request('POST', '/graphql/system', { body: { query: '{ server_health }' } });
      expect(body.errors[0].message).to.match(/server_health/);
    } finally {
      await other.stop();
    }
  });
});
