import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ALLOW_LOOPBACK, type CountingServer, startCountingServer } from '../../support/counting-server.ts';
import type { FreshDatabase } from '../../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { createUserSender, type SendAsUser, statusAndCodeOf } from '../users/test-users.ts';
import { createTestFlow, createWebhook, type TestStep } from './flow-fixture.ts';

const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
const name = { field: 'name', type: 'text', schema: {} };

describe('background runs of flows', () => {
  let service: InProcessService;
  let admin: SendAsUser;
  let anonymous: SendAsUser;
  let server: CountingServer;
  before(async () => {
    server = await startCountingServer();
    service = await startService({ env: { ...ALLOW_LOOPBACK, FLOWS_BACKGROUND_MAX_UNFINISHED_PER_FLOW: '2' } });
    admin = createUserSender(service, service.admin.token);
    anonymous = createUserSender(service, null);
    for (const collection of ['tags', 'notes'])
      await admin('POST', '/collections', { collection, schema: {}, fields: [key, name] });
  });
  beforeEach(() => {
    server.requests.length = 0;
    server.answer = () => 200;
  });
  afterEach(async () => {
    await admin('DELETE', '/flows', { query: { limit: -1 } });
    await service.database.query('truncate tags, notes restart identity');
    await service.database.query('truncate platform_flow_run_states');
    // What sleeps belongs to a flow that is gone.
    await service.database.query(`delete from platform_queue.job where name = 'flow-runs'`).catch(() => {});
  });
  after(async () => {
    await service?.stop();
    await server?.stop();
  });

  const make = (value: string, more: object = {}): TestStep => ({
    key: `make_${value.replace(/\W/g, '')}`,
    type: 'item-create',
    options: { collection: 'notes', payload: { name: value }, permissions: '$full', ...more },
  });
  const sleep = (milliseconds: number): TestStep => ({ key: 'wait', type: 'sleep', options: { milliseconds } });
  const notes = async () =>
    (await service.database.query<{ name: string }>('select name from notes order by id')).map((one) => one.name);
  const waitForNotes = (count: number) => until(async () => (await notes()).length === count && notes());
  const jobs = async () => (await admin('GET', '/queues/flow-runs/jobs?limit=1000')).body.data;
  const entries = () =>
    service.database.query<{ path: string; content: string }>(
      'select path, content from platform_flow_run_states order by path',
    );
  const runsOf = async (id: string) => (await admin('GET', `/flows/${id}/runs`)).body;
  const runsEnded = (id: string, count = 1) =>
    until(async () => {
      const { data } = await runsOf(id);
      const isEnded = data.every(({ status }: { status: string }) => status !== 'waiting' && status !== 'running');
      return data.length === count && isEnded && data;
    });
  const createAsync = (...steps: TestStep[]) => createWebhook(admin, steps, { async: true });
  const call = (path: string): TestStep => ({
    key: 'call',
    type: 'request',
    options: { method: 'POST', url: `${server.url}${path}` },
  });

  it('a "sleep" of more than a second is a waiting job, which goes on at its time without what has ended', async () => {
    const id = await createAsync(make('before'), sleep(2500), make('{{ make_before[0] }}'));
    const started = Date.now();
    await anonymous('POST', `/flows/trigger/${id}`, { token: 'a-secret-of-mine' });
    await until(
      async () =>
        (await jobs()).some((one: { state: string }) => one.state === 'waiting') && (await notes()).length === 1,
    );
    expect((await entries()).map(({ path }) => path)).to.deep.equal(['0', '1~sleep']);
    const [run] = await runsEnded(id);
    expect(Date.now() - started).to.be.at.least(2500);
    expect(await notes()).to.deep.equal(['before', '1']);
    expect(run.status).to.equal('resolve');
    expect(run.duration).to.be.at.least(2500);
    expect(await until(async () => (await entries()).length === 1 && entries())).to.deep.equal([
      { path: '~end', content: '' },
    ]);
    const [{ data }] = (await admin('GET', '/revisions?sort=-id&limit=1&filter[collection][_eq]=platform_flows')).body
      .data;
    expect(data.steps.map((one: { key: string }) => one.key)).to.deep.equal([
      'make_before',
      'wait',
      'make_make_before0',
    ]);
    expect(data.data.$trigger.body.token).to.equal('--redact--');
  });

  it('a failure that has ended before a "sleep" goes on at "reject"', async () => {
    const id = await createAsync(
      { key: 'no', type: 'throw-error', options: { code: 'MINE' } },
      { ...sleep(1500), after: 'reject' },
      make('{{ no.code }}'),
    );
    await anonymous('POST', `/flows/trigger/${id}`, {});
    expect(await waitForNotes(1)).to.deep.equal(['MINE']);
  });

  it('a flow that another one starts sleeps, too, and what has ended in it is not repeated', async () => {
    const inner = await createTestFlow(admin, {
      trigger: 'operation',
      options: { return: 'make_triggern' },
      steps: [make('{{ $trigger.n }}'), sleep(1500), call('/inner')],
    });
    const payload = [{ n: 'a' }, { n: 'b' }];
    const id = await createAsync({ key: 'both', type: 'trigger', options: { flow: inner, payload } }, make('end'));
    await anonymous('POST', `/flows/trigger/${id}`, {});
    expect((await waitForNotes(3)).toSorted()).to.deep.equal(['a', 'b', 'end']);
    await runsEnded(id);
    await runsEnded(inner, 2);
    expect(server.requests).to.have.length(2);
    expect(new Set(server.requests.map(({ headers }) => headers['idempotency-key'])).size).to.equal(2);
  });

  it('retries that wait for more than a second are waiting jobs', async () => {
    server.answer = () => (server.requests.length < 2 ? 503 : 200);
    const step = call('/retried');
    const id = await createAsync({ ...step, options: { ...step.options, $execution: { retries: 1, backoff: 1500 } } });
    await anonymous('POST', `/flows/trigger/${id}`, {});
    await until(async () => (await entries()).some(({ path }) => path === '0~retry'));
    const [run] = await runsEnded(id);
    expect([run.status, server.requests.length]).to.deep.equal(['resolve', 2]);
  });

  it('a flow after an event that sleeps becomes a job with the rights of the acting user', async () => {
    const id = await createTestFlow(admin, {
      trigger: 'event',
      options: { type: 'action', scope: ['items.create'], collections: ['tags'] },
      steps: [make('{{ $trigger.key }}'), sleep(1500), make('{{ $accountability.user }}')],
    });
    await admin('POST', '/items/tags', { name: 'x' });
    const { id: user } = (await admin('GET', '/users/me?fields=id')).body.data;
    expect(await waitForNotes(2)).to.deep.equal(['1', user]);
    expect((await runsEnded(id))[0].user).to.equal(user);
  });

  it('a flow after an event with "durable" is a job from its beginning', async () => {
    const id = await createTestFlow(admin, {
      trigger: 'event',
      options: { type: 'action', scope: ['items.create'], collections: ['tags'], durable: true },
      steps: [make('{{ $trigger.payload.name }}')],
    });
    await admin('POST', '/items/tags', { name: 'kept' });
    expect(await waitForNotes(1)).to.deep.equal(['kept']);
    await runsEnded(id);
    expect((await jobs()).map((one: { group: string }) => one.group)).to.deep.equal([id]);
  });

  it('flows after events that start each other without an end are stopped, also where each is a job', async () => {
    await createTestFlow(admin, {
      trigger: 'event',
      options: { type: 'action', scope: ['items.create'], collections: ['notes', 'tags'], durable: true },
      steps: [make('again', { emitEvents: true })],
    });
    await admin('POST', '/items/tags', { name: 'x' });
    expect(await waitForNotes(10)).to.have.length(10);
    await until(async () => (await jobs()).every((one: { state: string }) => one.state === 'completed'));
    expect(await notes()).to.have.length(10);
  });

  it('a scheduled flow sleeps as a job, and the ticks meanwhile are left out', async () => {
    await createTestFlow(admin, {
      trigger: 'schedule',
      options: { cron: '* * * * * *' },
      steps: [make('before'), sleep(3500), make('after')],
    });
    const names = await until(async () => (await notes()).includes('after') && notes(), 60_000);
    expect(names.slice(0, 2)).to.deep.equal(['before', 'after']);
  });

  it('a client is refused with 429 and Retry-After where the flow has too many unfinished runs', async () => {
    const id = await createAsync(sleep(3_600_000));
    for (const expected of [204, 204, 429]) {
      const reply = await service.request('POST', `/flows/trigger/${id}`, { body: {} });
      expect(reply.status).to.equal(expected);
      if (expected === 429) {
        expect(reply.body.errors[0].extensions.code).to.equal('REQUESTS_EXCEEDED');
        expect(reply.headers.get('retry-after')).to.equal('30');
      }
    }
    const other = await createAsync(make('other'));
    expect((await anonymous('POST', `/flows/trigger/${other}`, {})).status).to.equal(204);
    await waitForNotes(1);
  });

  it('a flow that was switched off while a run sleeps ends it as a dead letter that says so', async () => {
    const id = await createAsync(sleep(1500), make('never'));
    await anonymous('POST', `/flows/trigger/${id}`, {});
    await until(async () => (await entries()).length > 0);
    await admin('PATCH', `/flows/${id}`, { status: 'inactive' });
    const [dead] = await until(async () => {
      const found = (await jobs()).filter((one: { state: string }) => one.state === 'failed');
      return found.length > 0 && found;
    });
    expect(dead.error).to.equal('the flow is gone or inactive');
    expect(await notes()).to.deep.equal([]);
  });

  it('an operation that was removed while a run sleeps ends it with a failure that names it', async () => {
    const id = await createAsync(make('once'), sleep(1500), make('never'));
    await anonymous('POST', `/flows/trigger/${id}`, {});
    await until(async () => (await entries()).length === 2);
    const { operations } = (await admin('GET', `/flows/${id}?fields=operations.id,operations.key`)).body.data;
    const waiting = operations.find((one: { key: string }) => one.key === 'make_once').id;
    expect((await admin('DELETE', `/operations/${waiting}`)).status).to.equal(204);
    const [run] = await runsEnded(id);
    expect(run.error.message).to.include(waiting);
    expect(await notes()).to.deep.equal(['once']);
  });
});

describe('background runs of flows over processes and keys', () => {
  let database: FreshDatabase;
  let server: CountingServer;
  const started: InProcessService[] = [];
  before(async () => {
    server = await startCountingServer();
  });
  beforeEach(async () => {
    database = await createMigratedDatabase('flow_states');
    server.requests.length = 0;
  });
  afterEach(async () => {
    for (const one of started.splice(0)) await one.stop();
    await database.drop();
  });
  after(() => server.stop());

  async function start(env: Readonly<Record<string, string>> = {}): Promise<InProcessService> {
    const one = await startService({ database, env: { ...ALLOW_LOOPBACK, ...env } });
    started.push(one);
    return one;
  }
  const call = (path: string): TestStep => ({
    key: path,
    type: 'request',
    options: { method: 'POST', url: `${server.url}/${path}` },
  });
  const paths = () => server.requests.map((one) => one.path);

  it('a service that stops leaves its run to another one, which goes on after the last operation that ended', async () => {
    const end = Promise.withResolvers<number>();
    server.answer = ({ path }) => (path === '/second' && server.requests.length === 2 ? end.promise : 200);
    const one = await start();
    const admin = createUserSender(one, one.admin.token);
    const flows = [await createWebhook(admin, [call('first'), call('second'), call('third')], { async: true })];
    await admin('POST', `/flows/trigger/${flows[0]}`, {});
    await until(() => server.requests.length === 2);
    started.splice(0);
    await one.stop();
    await start();
    await until(() => paths().includes('/third'), 60_000);
    end.resolve(200);
    expect(paths()).to.deep.equal(['/first', '/second', '/second', '/third']);
    const [, ...seconds] = server.requests.slice(0, 3).map(({ headers }) => headers['idempotency-key']);
    expect(seconds[0]).to.equal(seconds[1]);
  });

  it('a flow after an event that a stop interrupts goes on in another process', async () => {
    const end = Promise.withResolvers<number>();
    server.answer = () => (server.requests.length === 2 ? end.promise : 200);
    const one = await start();
    const admin = createUserSender(one, one.admin.token);
    await admin('POST', '/collections', { collection: 'tags', schema: {}, fields: [key, name] });
    await createTestFlow(admin, {
      trigger: 'event',
      options: { type: 'action', scope: ['items.create'], collections: ['tags'] },
      steps: [call('first'), call('second'), call('third')],
    });
    await admin('POST', '/items/tags', { name: 'x' });
    await until(() => server.requests.length === 2);
    started.splice(0);
    await one.stop();
    await start();
    await until(() => paths().includes('/third'), 60_000);
    end.resolve(200);
    expect(paths()).to.deep.equal(['/first', '/second', '/second', '/third']);
  });

  it('an item that a flow creates during a stop exists once', async () => {
    const one = await start();
    const admin = createUserSender(one, one.admin.token);
    for (const collection of ['tags', 'notes'])
      await admin('POST', '/collections', { collection, schema: {}, fields: [key, name] });
    await createTestFlow(admin, {
      trigger: 'event',
      options: { type: 'action', scope: ['items.create'], collections: ['tags'] },
      steps: [
        { key: 'make', type: 'item-create', options: { collection: 'notes', payload: { name: 'once' } } },
        call('after'),
      ],
    });
    await database.query(`create function take_time() returns trigger as
      $$ begin perform pg_sleep(1.5); return new; end $$ language plpgsql`);
    await database.query('create trigger take_time before insert on notes for each row execute function take_time()');
    await admin('POST', '/items/tags', { name: 'x' });
    await until(async () => {
      const [row] = await database.query<{ count: number }>(
        `select count(*)::int from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
      );
      return row?.count === 1;
    });
    started.splice(0);
    await one.stop();
    await start();
    await until(() => paths().includes('/after'), 60_000);
    expect(await database.query('select name from notes')).to.deep.equal([{ name: 'once' }]);
  });

  it('a scheduled run that a stop interrupts goes on in another process', async () => {
    const end = Promise.withResolvers<number>();
    server.answer = ({ path }) => (path === '/second' ? end.promise : 200);
    const one = await start();
    const admin = createUserSender(one, one.admin.token);
    const steps = [call('first'), call('second'), call('third')];
    await createTestFlow(admin, { trigger: 'schedule', options: { cron: '* * * * * *' }, steps });
    const run = await until(() => server.requests.find(({ path }) => path === '/second'), 60_000);
    const key = run.headers['idempotency-key'];
    server.answer = () => 200;
    started.splice(0);
    await one.stop();
    await start();
    const third = String(key).replace(/second$/, 'third');
    await until(() => server.requests.some(({ headers }) => headers['idempotency-key'] === third), 60_000);
    end.resolve(200);
    const first = String(key).replace(/second$/, 'first');
    expect(server.requests.filter(({ headers }) => headers['idempotency-key'] === first)).to.have.length(1);
  });

  it('the state of a run is encrypted where SECRETS_ENCRYPTION_KEY is set, and a run under another key fails clearly', async () => {
    const keyOf = (byte: number) => ({ SECRETS_ENCRYPTION_KEY: Buffer.alloc(32, byte).toString('base64') });
    const one = await start(keyOf(1));
    const admin = createUserSender(one, one.admin.token);
    const steps: TestStep[] = [
      { key: 'answer', type: 'transform', options: { json: { word: 'a-secret-word' } } },
      { key: 'wait', type: 'sleep', options: { milliseconds: 3000 } },
    ];
    const id = await createWebhook(admin, steps, { async: true });
    await admin('POST', `/flows/trigger/${id}`, {});
    const rows = await until(async () => {
      const found = await database.query<{ content: string }>('select content from platform_flow_run_states');
      return found.length === 2 && found;
    });
    for (const { content } of rows) expect(content).to.include('$sealed').and.not.include('a-secret-word');
    started.splice(0);
    await one.stop();
    const other = await start(keyOf(2));
    const asAdmin = createUserSender(other, other.admin.token);
    const failed = await until(async () => {
      const { data } = (await asAdmin('GET', '/queues/flow-runs/jobs')).body;
      return data[0]?.error ? data[0] : undefined;
    }, 60_000);
    expect(failed.error).to.include('SECRETS_ENCRYPTION_KEY');
  });

  it('the clean-up deletes what ended and abandoned runs have left behind, and no state of a run that goes on', async () => {
    const one = await start();
    const flow = await createWebhook(createUserSender(one, one.admin.token), []);
    started.splice(0);
    await one.stop();
    const add = (path: string, age: string, ofFlow: string, run = randomUUID()) =>
      database.query(
        `insert into platform_flow_run_states (run, path, flow, content, at) values ($1, $2, $3, '{}', now() - $4::interval)`,
        [run, path, ofFlow, age],
      );
    const sleeping = randomUUID();
    await add('0', '80 days', flow, sleeping);
    await add('1~sleep', '50 days', flow, sleeping);
    await add('~end', '1 hour', flow);
    await add('~end', '2 days', flow);
    await add('0', '62 days', flow);
    await add('0', '1 hour', randomUUID());
    await database.query(`delete from platform_schedule_ticks where schedule = 'flow run clean-up'`);
    await database.query(`insert into platform_schedule_ticks (schedule, tick, process, finished)
      values ('flow run clean-up', now() - interval '3 hours', gen_random_uuid(), now())`);
    await start();
    const left = () => database.query<{ path: string }>('select path, run from platform_flow_run_states order by path');
    const rows = await until(async () => (await left()).length <= 3 && left());
    expect(rows.map(({ path }) => path)).to.deep.equal(['0', '1~sleep', '~end']);
  });

  it('all flows together are bounded: 503 with Retry-After', async () => {
    const one = await start({ FLOWS_BACKGROUND_MAX_UNFINISHED: '1' });
    const admin = createUserSender(one, one.admin.token);
    const steps: TestStep[] = [{ key: 'wait', type: 'sleep', options: { milliseconds: 3_600_000 } }];
    const [first, second] = [
      await createWebhook(admin, steps, { async: true }),
      await createWebhook(admin, steps, { async: true }),
    ];
    await admin('POST', `/flows/trigger/${first}`, {});
    const reply = await one.request('POST', `/flows/trigger/${second}`, { body: {} });
    expect(statusAndCodeOf(reply)).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
    expect(reply.headers.get('retry-after')).to.equal('30');
  });
});
