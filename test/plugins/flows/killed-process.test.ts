import { expect } from 'chai';
import { type CountedRequest, type CountingServer, startCountingServer } from '../../support/counting-server.ts';
import type { FreshDatabase } from '../../support/database.ts';
import { createMigratedDatabase, type SpawnedService, spawnService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import type { SendAsUser } from '../users/test-users.ts';
import { createTestFlow, type TestStep } from './flow-fixture.ts';

const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
const name = { field: 'name', type: 'text', schema: {} };
/** Milliseconds after which a job whose process was killed has begun again. */
const TAKE_OVER_LIMIT = 150_000;

describe('a flow whose process is killed', function () {
  this.timeout(600_000);
  let database: FreshDatabase;
  let server: CountingServer;
  const services = new Map<string, SpawnedService>();
  before(async () => {
    server = await startCountingServer();
    database = await createMigratedDatabase('flow_kill');
  });
  after(async () => {
    for (const one of services.values()) await one.stop();
    await database?.drop();
    await server?.stop();
  });

  async function start(life: string): Promise<SpawnedService> {
    const env = { IMPORT_IP_ALLOW_LIST: '127.0.0.1', FLOWS_ENV_ALLOW_LIST: 'LIFE', LIFE: life };
    const service = await spawnService({ database, env });
    services.set(life, service);
    return service;
  }
  const call = (path: string): TestStep => ({
    key: path,
    type: 'request',
    options: {
      method: 'POST',
      url: `${server.url}/${path}`,
      headers: [{ header: 'x-life', value: '{{ $env.LIFE }}' }],
    },
  });
  const steps = (): readonly TestStep[] => [
    call('first'),
    {
      key: 'make',
      type: 'item-create',
      options: { collection: 'notes', payload: { name: '{{ first.data.key }}' }, permissions: '$full' },
    },
    call('second'),
    call('third'),
  ];
  const arrived = (path: string) => server.requests.filter((one) => one.path === path);
  const lifeOf = ({ headers }: CountedRequest) => String(headers['x-life']);

  for (const [title, flow] of [
    ['an asynchronous run', { trigger: 'webhook', options: { method: 'POST', async: true } }],
    ['a scheduled run', { trigger: 'schedule', options: { cron: '* * * * * *' } }],
  ] as const)
    it(`${title} goes on in another process after the last operation that ended`, async () => {
      server.requests.length = 0;
      // The second request stays without an answer until its process is dead.
      const never = new Promise<number>(() => {});
      server.answer = ({ path }) => (path === '/second' && arrived('/second').length === 1 ? never : 200);
      const [one] = [await start('one'), await start('two')];
      const admin: SendAsUser = (method, path, body) => one.request(method, path, { token: one.admin.token, body });
      await admin('POST', '/collections', { collection: 'notes', schema: {}, fields: [key, name] });
      await database.query('truncate notes');
      const id = await createTestFlow(admin, { ...flow, steps: steps() });
      if (flow.trigger === 'webhook') expect((await admin('POST', `/flows/trigger/${id}`, {})).status).to.equal(204);

      const [held] = await until(() => arrived('/second').length > 0 && arrived('/second'), 60_000);
      const life = lifeOf(held as CountedRequest);
      await (services.get(life) as SpawnedService).kill('SIGKILL');
      // A schedule has further runs meanwhile.
      const keyOf = (step: string) => String(held?.headers['idempotency-key']).replace(/second$/, step);
      const sent = (step: string) =>
        arrived(`/${step}`).filter(({ headers }) => headers['idempotency-key'] === keyOf(step));
      const [, again] = await until(() => sent('second').length > 1 && sent('second'), TAKE_OVER_LIMIT);
      await until(() => sent('third').length > 0);
      const rows = await database.query('select * from notes where name = $1', [keyOf('first')]);
      for (const service of services.values()) await service.stop();
      services.clear();

      expect(lifeOf(again as CountedRequest)).to.not.equal(life);
      expect([sent('first').length, sent('second').length, rows.length]).to.deep.equal([1, 2, 1]);
    });
});
