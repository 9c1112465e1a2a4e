import { expect } from 'chai';
import { createClient } from 'graphql-sse';
import { createUserWithPermissions, requestAsAdmin } from '../../http/test-users.ts';
import { type SpawnedService, spawnService } from '../../support/service.ts';
import {
  connectSocket,
  dataOf,
  REALTIME_SETTINGS,
  type SocketClient,
  TABLES,
  watch,
  watchFromNow,
} from './realtime-graphql-fixture.ts';

const QUERY = 'subscription { author_mutated(event: create) { data { name } } }';
const named = (...names: string[]) => names.map((name) => ({ author_mutated: { data: { name } } }));

describe('GraphQL subscriptions at two processes on one database', function () {
  this.timeout(180_000);
  let one: SpawnedService;
  let two: SpawnedService;
  const clients: SocketClient[] = [];

  before(async () => {
    one = await spawnService({ env: REALTIME_SETTINGS });
    await one.database.query(TABLES);
    two = await spawnService({ database: one.database, env: REALTIME_SETTINGS });
  });
  afterEach(() => Promise.all(clients.splice(0).map((client) => client.dispose())));
  after(async () => {
    await two?.stop();
    await one?.stop();
  });

  const connect = (service: SpawnedService, token: string) => {
    const client = connectSocket(service, { token });
    clients.push(client);
    return client;
  };
  const create = (name: string) => requestAsAdmin(two, 'POST', '/items/author', { name });

  it('a row that the other process writes reaches a socket and an event stream', async () => {
    const headers = { Authorization: `Bearer ${one.admin.token}` };
    const stream = createClient({ url: `${one.url}/graphql`, headers, retryAttempts: 0 });
    const [bySocket, byStream] = await Promise.all([
      watchFromNow(connect(one, one.admin.token), QUERY),
      watchFromNow(stream, QUERY),
    ]);
    await create('from the other process');
    expect(dataOf(await bySocket.received(1))).to.deep.equal(named('from the other process'));
    expect(dataOf(await byStream.received(1))).to.deep.equal(named('from the other process'));
    byStream.end();
  });

  it('a permission that is taken away at the other process takes effect with the next response', async () => {
    const user = await createUserWithPermissions(two, [{ collection: 'author', action: 'read' }]);
    const watched = await watchFromNow(connect(one, user.token), QUERY);
    const [permission] = await requestAsAdmin(two, 'GET', `/permissions?filter[role][_eq]=${user.role}`);
    await create('seen');
    await watched.received(1);
    await requestAsAdmin(two, 'PATCH', `/permissions/${permission.id}`, { permissions: { name: { _eq: 'open' } } });
    await create('hidden');
    await create('open');
    expect(dataOf(await watched.received(2))).to.deep.equal(named('seen', 'open'));
  });

  it('a client whose process is killed gets from the other one what it has missed', async () => {
    const client = connect(one, one.admin.token);
    const watched = watch(client, QUERY, { extensions: { since: null } });
    await watched.received(1);
    await create('before');
    const { extensions } = (await watched.received(2)).at(-1);
    expect(extensions.sequence).to.equal(2);
    const listener = await watchFromNow(connect(two, one.admin.token), QUERY);
    await one.kill('SIGKILL');
    await create('missed 1');
    await create('missed 2');
    await listener.received(2);

    const again = watch(connect(two, one.admin.token), QUERY, { extensions: { since: extensions.position } });
    await again.received(1);
    await create('after');
    const resumed = await again.received(again.responses[0].errors ? 2 : 4);
    const rows = dataOf(resumed).filter((response) => response.author_mutated?.data);
    // The process may know what was missed, or tells the client to read again; silence would be wrong.
    if (resumed[0].errors) expect(resumed[0].errors[0].extensions.code).to.equal('RESYNC');
    else expect(rows).to.deep.equal(named('missed 1', 'missed 2', 'after'));
  });
});
