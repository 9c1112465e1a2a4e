import { once } from 'node:events';
import { expect } from 'chai';
import WebSocket from 'ws';
import { requestAsAdmin } from '../../http/test-users.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../../support/service.ts';
import { connectSocket, REALTIME_SETTINGS, runOnce, socketUrl, TABLES, watch } from './realtime-graphql-fixture.ts';

const QUERY = '{ author_by_id(id: 1) { name } }';
const ANN = { data: { author_by_id: { name: 'Ann' } } };

describe('settings of GraphQL subscriptions', function () {
  this.timeout(120_000);
  let database: Awaited<ReturnType<typeof createMigratedDatabase>>;
  let service: InProcessService | undefined;

  before(async () => {
    database = await createMigratedDatabase('graphql_sockets');
    await database.query(TABLES);
  });
  afterEach(async () => {
    await service?.stop();
    service = undefined;
  });
  after(() => database?.drop());

  const start = async (env: Readonly<Record<string, string>>): Promise<InProcessService> => {
    service = await startService({ database, env });
    return service;
  };

  /** The status with which an upgrade is refused. */
  async function refusalOf(path: string): Promise<number> {
    const socket = new WebSocket(socketUrl(service as InProcessService, path), 'graphql-transport-ws');
    const [error] = (await once(socket, 'error')) as [Error];
    return Number(/\d+$/.exec(error.message)?.[0]);
  }

  it('mode "public" lets clients without a token read what the public may, at a path of its own', async () => {
    const one = await start({
      ...REALTIME_SETTINGS,
      WEBSOCKETS_GRAPHQL_AUTH: 'public',
      WEBSOCKETS_GRAPHQL_PATH: '/live/graphql',
    });
    const asPublic = connectSocket(one, { path: '/live/graphql' });
    expect((await runOnce(asPublic, QUERY))[0].extensions.code).to.equal('GRAPHQL_VALIDATION_EXCEPTION');
    const grant = { role: null, collection: 'author', action: 'read', fields: ['name'] };
    await requestAsAdmin(one, 'POST', '/permissions', grant);
    expect(await runOnce(asPublic, QUERY)).to.deep.equal(ANN);
    const asAdmin = connectSocket(one, { path: '/live/graphql', token: one.admin.token });
    expect((await runOnce(asAdmin, '{ book { id } }')).data.book).to.have.length(2);
    const wrong = connectSocket(one, { path: '/live/graphql', token: 'wrong' });
    await runOnce(wrong, QUERY);
    expect(wrong.closed()?.code).to.equal(4403);
    expect(await refusalOf('/graphql')).to.equal(404);
    await Promise.all([asPublic, asAdmin, wrong].map((client) => client.dispose()));
  });

  it('mode "strict" needs a token in the upgrade, and connections over the limit are refused by 403', async () => {
    const one = await start({
      ...REALTIME_SETTINGS,
      WEBSOCKETS_GRAPHQL_AUTH: 'strict',
      WEBSOCKETS_GRAPHQL_CONN_LIMIT: '1',
    });
    expect(await refusalOf('/graphql')).to.equal(401);
    const path = `/graphql?access_token=${one.admin.token}`;
    const client = connectSocket(one, { path });
    expect(await runOnce(client, QUERY)).to.deep.equal(ANN);
    expect(await refusalOf(path)).to.equal(403);
    await client.dispose();
  });

  for (const env of [{}, { ...REALTIME_SETTINGS, WEBSOCKETS_GRAPHQL_ENABLED: 'false' }]) {
    it(`there is no subscription, no socket and no event stream with ${JSON.stringify(env)}`, async () => {
      const one = await start(env);
      const { token } = one.admin;
      const document = { query: '{ __schema { subscriptionType { name } } }' };
      const { body } = await one.request('POST', '/graphql', { token, body: document });
      expect(body.data.__schema.subscriptionType).to.equal(null);
      const headers = { Accept: 'text/event-stream', Authorization: `Bearer ${token}` };
      const response = await fetch(`${one.url}/graphql?query=${encodeURIComponent(QUERY)}`, { headers });
      expect(response.headers.get('content-type')).to.contain('application/json');
      const client = connectSocket(one, { token });
      const watched = watch(client, 'subscription { author_mutated { key } }');
      await once(new WebSocket(socketUrl(one), 'graphql-transport-ws'), 'error');
      expect(watched.responses).to.deep.equal([]);
      await client.dispose();
    });
  }
});
