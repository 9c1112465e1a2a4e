import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import {
  createTestUserAccount,
  createUserSender,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
} from '../users/test-users.ts';
import { createTestFlow, createWebhook, type TestFlow, type TestStep } from './flow-fixture.ts';

const ok: TestStep = { key: 'ok', type: 'transform', options: { json: '1' } };

describe('flows that cannot run as they are stored', function () {
  this.timeout(60_000);
  let service: InProcessService;
  let admin: SendAsUser;
  before(async () => {
    service = await startService({ env: { LOG_LEVEL: 'warn' } });
    admin = createUserSender(service, service.admin.token);
  });
  after(() => service?.stop());
  afterEach(() => admin('DELETE', '/flows', { query: { limit: -1 } }));

  const problemsOf = async (id: string) => (await admin('GET', `/flows/${id}/problems`)).body.data;
  const lastRunOf = async (id: string) => (await admin('GET', `/flows/${id}/runs`)).body.data[0];
  const operationsOf = async (id: string): Promise<Record<string, string>> =>
    Object.fromEntries(
      (await admin('GET', `/operations?filter[flow][_eq]=${id}`)).body.data.map((one: { key: string; id: string }) => [
        one.key,
        one.id,
      ]),
    );

  for (const [title, flow, problem] of [
    [
      'a cron expression that cannot be read',
      { trigger: 'schedule', options: { cron: 'daily' } },
      '"daily" is no cron',
    ],
    ['a schedule without a cron expression', { trigger: 'schedule', options: {} }, 'null is no cron expression'],
    ['a cron expression that is a number', { trigger: 'schedule', options: { cron: 5 } }, '5 is no cron expression'],
    ['an event flow of no type', { trigger: 'event', options: { scope: ['auth.login'] } }, '"type" is neither'],
    [
      'an event flow without collections',
      { trigger: 'event', options: { type: 'action', scope: ['items.create'] } },
      'name no event',
    ],
    [
      'an event flow whose scope is no list',
      { trigger: 'event', options: { type: 'filter', scope: 7 } },
      'name no event',
    ],
    ['a manual flow without collections', { trigger: 'manual', options: {} }, '"collections" is empty'],
    ['options that are no object', { trigger: 'schedule', options: 'x' as never }, 'null is no cron expression'],
    ['a trigger that does not exist', { trigger: 'moon' }, 'the flow has no trigger'],
  ] as const satisfies readonly (readonly [string, Omit<TestFlow, 'steps'>, string])[])
    it(`${title} is a problem of the trigger, and the service goes on`, async () => {
      const id = await createTestFlow(admin, { ...flow, steps: [ok] });
      const problems = await problemsOf(id);
      expect(problems).to.have.length(1);
      expect(problems[0].step).to.equal(null);
      expect(problems[0].message).to.include(problem);
      expect((await admin('GET', '/server/ping')).status).to.equal(200);
    });

  it('a flow that can run has no problems, whatever its trigger', async () => {
    for (const flow of [
      { trigger: 'schedule', options: { cron: '0 0 1 1 *' } },
      { trigger: 'event', options: { type: 'action', scope: ['auth.login'] } },
      { trigger: 'manual', options: { collections: ['x'] } },
      { trigger: 'webhook' },
      { trigger: 'operation' },
    ])
      expect(await problemsOf(await createTestFlow(admin, { ...flow, steps: [ok] })), flow.trigger).to.deep.equal([]);
  });

  it('a cron expression that cannot be read is a warning with the flow, and a corrected one is scheduled', async () => {
    const id = await createTestFlow(admin, { trigger: 'schedule', options: { cron: '99 * * * *' }, steps: [ok] });
    const warnings = () =>
      service.log.filter(({ flow, msg }) => flow === id && String(msg).includes('cron expression cannot be read'));
    expect(warnings()).to.have.length.above(0);
    const before = warnings().length;
    await admin('PATCH', `/flows/${id}`, { options: { cron: '0 0 1 1 *' } });
    expect(await problemsOf(id)).to.deep.equal([]);
    expect(warnings()).to.have.length(before);
  });

  it('an operation of an unknown type ends the run as "unknown", and is a problem', async () => {
    const id = await createWebhook(admin, [{ key: 'odd', type: 'teleport' }, ok], { return: '$all' });
    const reply = await admin('POST', `/flows/trigger/${id}`, {});
    expect([reply.status, reply.body.odd, 'ok' in reply.body]).to.deep.equal([200, null, false]);
    expect(await lastRunOf(id)).to.include({ status: 'unknown', step: 'odd' });
    expect(await problemsOf(id)).to.deep.equal([{ step: 'odd', message: 'no plugin has the operation "teleport"' }]);
  });

  for (const [type, options] of [
    ['transform', { json: '{ no' }],
    ['condition', { filter: '{ no' }],
    ['condition', { filter: [1] }],
    ['exec', { code: 7 }],
    ['item-create', { payload: { a: 1 } }],
    ['item-read', { collection: '' }],
    ['item-read', { collection: 'platform_flows', query: '7' }],
    ['item-update', { collection: 'platform_flows', key: 1, payload: 'x' }],
    ['item-delete', { key: 1 }],
    ['mail', { subject: 's' }],
    ['notification', { recipient: '11111111-2222-4333-8444-555555555555' }],
    ['request', { url: 'nowhere' }],
    ['trigger', { flow: '11111111-2222-4333-8444-555555555555', payload: [1], iterationMode: 'odd' }],
    ['sleep', { milliseconds: 'long' }],
    ['json-web-token', { operation: 'sing' }],
  ] as const)
    it(`${type} with ${JSON.stringify(options)} ends the run at the operation, with a code and a message`, async () => {
      const id = await createWebhook(admin, [{ key: 'step', type, options }, ok]);
      const { status, body } = await admin('POST', `/flows/trigger/${id}`, {});
      const run = await lastRunOf(id);
      // A flow that is missing is a warning (conventions, "operation").
      if (type === 'trigger') return expect(run).to.include({ status: 'resolve', step: 'ok' });
      expect(status).to.equal(200);
      const [error] = [body].flat();
      expect(error.message).to.be.a('string').and.not.equal('');
      expect(error.code, JSON.stringify(body)).to.be.oneOf(['INVALID_PAYLOAD', 'INVALID_QUERY']);
      expect(run).to.include({ status: 'reject', step: 'step' });
      expect(run.error).to.deep.equal(body);
    });

  it('a chain that leads into another flow ends there with a message, and is a problem', async () => {
    const other = await createWebhook(admin, [{ ...ok, key: 'other' }]);
    const id = await createWebhook(admin, [ok]);
    const { other: foreign } = await operationsOf(other);
    const { ok: own } = await operationsOf(id);
    await admin('PATCH', `/flows/${other}`, { operation: null });
    await admin('PATCH', `/operations/${own}`, { resolve: foreign });
    const { body } = await admin('POST', `/flows/trigger/${id}`, {});
    expect(body.message).to.include(foreign);
    expect(await lastRunOf(id)).to.include({ status: 'reject' });
    expect(await problemsOf(id)).to.deep.equal([
      { step: 'ok', message: `"resolve" leads to ${foreign}, which is no operation of the flow` },
    ]);
    await admin('PATCH', `/operations/${own}`, { resolve: null });
    await admin('PATCH', `/flows/${id}`, { operation: foreign });
    expect((await admin('POST', `/flows/trigger/${id}`, {})).body.message).to.include(foreign);
    expect(await problemsOf(id)).to.deep.equal([
      { step: null, message: `the flow begins with ${foreign}, which is no operation of the flow` },
    ]);
  });

  it('a chain that goes round ends with the keys of its circle, and is a problem', async () => {
    const id = await createWebhook(admin, [ok, { ...ok, key: 'two' }]);
    const { ok: first, two } = await operationsOf(id);
    await admin('PATCH', `/operations/${two}`, { resolve: first });
    expect((await admin('POST', `/flows/trigger/${id}`, {})).body.message).to.include('ok → two → ok');
    expect(await problemsOf(id)).to.deep.equal([{ step: 'two', message: '"resolve" leads back to "ok"' }]);
  });

  it('a template path that does not exist is named in the record of its operation', async () => {
    const options = { json: { a: '{{ $trigger.body.no }}', b: 'x {{ nothing.at[3].all }} y' } };
    const id = await createWebhook(admin, [{ key: 'step', type: 'transform', options }]);
    expect((await admin('POST', `/flows/trigger/${id}`, {})).body).to.deep.equal({
      a: 'undefined',
      b: 'x undefined y',
    });
    const { activity } = await lastRunOf(id);
    const { data } = (await admin('GET', `/revisions?filter[activity][_eq]=${activity}`)).body;
    expect(data[0].data.steps[0].missing).to.deep.equal(['$trigger.body.no', 'nothing.at[3].all']);
  });

  it('problems are for callers who may read the flow', async () => {
    const id = await createWebhook(admin, [ok]);
    const user = await createTestUserAccount(service, await makeRole(service));
    for (const ask of [user.ask, createUserSender(service, null)])
      expect(statusAndCodeOf(await ask('GET', `/flows/${id}/problems`))).to.deep.equal([403, 'FORBIDDEN']);
    expect(statusAndCodeOf(await admin('GET', '/flows/11111111-2222-4333-8444-555555555555/problems'))).to.deep.equal([
      403,
      'FORBIDDEN',
    ]);
  });
});
