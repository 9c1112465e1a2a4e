import { expect } from 'chai';
import { recordStatementsDuring } from '../../support/capture-sql-statements.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import {
  createTestUserAccount,
  createUserSender,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
} from '../users/test-users.ts';
import { createTestFlow, createWebhook } from './flow-fixture.ts';

const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
const name = { field: 'name', type: 'text', schema: {} };

describe('runs of flows', () => {
  let service: InProcessService;
  let admin: SendAsUser;
  before(async () => {
    service = await startService();
    admin = createUserSender(service, service.admin.token);
    await admin('POST', '/collections', { collection: 'tags', schema: {}, fields: [key, name] });
  });
  after(() => service?.stop());

  it('GET /flows/<id>/runs lists ended runs, the latest first, page by page', async () => {
    const id = await createWebhook(admin, [
      { key: 'check', type: 'condition', options: { filter: { $trigger: { body: { ok: { _eq: true } } } } } },
    ]);
    for (const ok of [true, false, true]) await admin('POST', `/flows/trigger/${id}`, { ok });
    const { body } = await admin('GET', `/flows/${id}/runs`);
    expect(body.meta.total_count).to.equal(3);
    expect(body.data.map((one: { status: string }) => one.status)).to.deep.equal(['resolve', 'reject', 'resolve']);
    const [, failed] = body.data;
    expect(failed.step).to.equal('check');
    expect(failed.error[0].code).to.equal('FAILED_VALIDATION');
    expect((await admin('GET', `/activity/${failed.activity}`)).body.data).to.include({ action: 'run', item: id });
    expect((await admin('GET', `/flows/${id}/runs?limit=1&page=2`)).body.data).to.deep.equal([failed]);
    expect(statusAndCodeOf(await admin('GET', `/flows/${id}/runs?limit=x`))).to.deep.equal([400, 'INVALID_QUERY']);
  });

  it('GET /flows/<id>/runs chooses runs by status and refuses others', async () => {
    const id = await createWebhook(admin, [
      { key: 'check', type: 'condition', options: { filter: { $trigger: { body: { ok: { _eq: true } } } } } },
    ]);
    for (const ok of [true, false, true]) await admin('POST', `/flows/trigger/${id}`, { ok });
    for (const [status, count] of [
      ['reject', 1],
      ['resolve', 2],
      ['reject,resolve', 3],
      ['running', 0],
    ] as const) {
      const { body } = await admin('GET', `/flows/${id}/runs?status=${status}`);
      expect(body.meta.total_count, status).to.equal(count);
      expect(body.data, status).to.have.length(count);
    }
    for (const wrong of ['status=over', 'status=', 'page=0', 'limit=-1', 'page=1e300'])
      expect(statusAndCodeOf(await admin('GET', `/flows/${id}/runs?${wrong}`)), wrong).to.deep.equal([
        400,
        'INVALID_QUERY',
      ]);
  });

  it('GET /flows/<id>/runs/<run> answers the steps with options, output and times, without secrets', async () => {
    const id = await createWebhook(admin, [
      {
        key: 'first',
        type: 'transform',
        options: { json: { name: '{{ $trigger.body.name }}', nothing: '{{ no.path }}' } },
      },
      {
        key: 'second',
        type: 'transform',
        options: { json: { password: 'hush hush', copy: '{{ $trigger.body.token }}' } },
      },
    ]);
    await admin('POST', `/flows/trigger/${id}`, { name: 'a', token: 'abcdefgh' });
    const [{ id: run }] = (await admin('GET', `/flows/${id}/runs`)).body.data;
    const { status, body } = await admin('GET', `/flows/${id}/runs/${run}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    const [first, second] = body.data.steps;
    expect(first).to.include({ key: 'first', status: 'resolve' });
    expect(first.missing).to.deep.equal(['no.path']);
    expect(first.output.name).to.equal('a');
    expect(first.duration).to.be.at.least(0);
    expect(Date.parse(first.started)).to.be.at.least(Date.parse(body.data.started) - 1000);
    expect(second.options.json).to.deep.equal({ password: '--redact--', copy: '--redact--' });
    expect(second.output).to.deep.equal({ password: '--redact--', copy: '--redact--' });
    expect(JSON.stringify(body)).to.not.match(/abcdefgh|hush/);
    for (const unknown of ['11111111-2222-4333-8444-555555555555', 'x'])
      expect(statusAndCodeOf(await admin('GET', `/flows/${id}/runs/${unknown}`))).to.deep.equal([403, 'FORBIDDEN']);
  });

  it('a flow with the accountability "activity" keeps its runs without steps and without a revision', async () => {
    const id = await createTestFlow(admin, {
      trigger: 'webhook',
      accountability: 'activity',
      options: { method: 'POST' },
      steps: [{ key: 'a', type: 'throw-error', options: { message: 'on purpose' } }],
    });
    await admin('POST', `/flows/trigger/${id}`, {});
    const [run] = (await admin('GET', `/flows/${id}/runs`)).body.data;
    expect(run).to.include({ status: 'reject', step: 'a' });
    expect(run.error.message).to.equal('on purpose');
    expect((await admin('GET', `/flows/${id}/runs/${run.id}`)).body.data.steps).to.deep.equal([]);
    const revisions = await admin('GET', `/revisions?filter[activity][_eq]=${run.activity}`);
    expect(revisions.body.data).to.deep.equal([]);
  });

  it('every flow counts its runs and failures, also one without accountability', async () => {
    const id = await createTestFlow(admin, {
      trigger: 'webhook',
      accountability: null,
      options: { method: 'POST' },
      steps: [{ key: 'check', type: 'condition', options: { filter: { $trigger: { body: { ok: { _eq: true } } } } } }],
    });
    const countsOf = async () => (await admin('GET', `/flows/${id}/runs`)).body.meta.counts;
    expect(await countsOf()).to.deep.equal({ runs: 0, failures: 0, last_run: null, last_failure: null });
    for (const ok of [false, true]) await admin('POST', `/flows/trigger/${id}`, { ok });
    const counts = await countsOf();
    expect(counts).to.include({ runs: 2, failures: 1 });
    expect(Date.parse(counts.last_run)).to.be.at.least(Date.parse(counts.last_failure));
    await admin('POST', `/flows/trigger/${id}`, { ok: false });
    expect(await countsOf()).to.include({ runs: 3, failures: 2 });
  });

  it('a run costs no statement without accountability, and two with it, however many steps it has', async () => {
    const steps = ['a', 'b', 'c'].map((one) => ({ key: one, type: 'transform', options: { json: { one } } }));
    for (const [accountability, count] of [
      [null, 0],
      ['activity', 2],
      ['all', 2],
    ] as const) {
      const flow = { trigger: 'webhook', accountability, options: { method: 'POST' }, steps };
      const id = await createTestFlow(admin, flow);
      const run = () => admin('POST', `/flows/trigger/${id}`, {});
      await run();
      const statements = await recordStatementsDuring(run);
      expect(statements, `${accountability}: ${statements.join('\n')}`).to.have.length(count);
    }
  });

  it('a filter flow that cancels a write is counted and kept, though the write is rolled back', async () => {
    const id = await createTestFlow(admin, {
      trigger: 'event',
      options: { type: 'filter', scope: ['items.create'], collections: ['tags'] },
      steps: [{ key: 'no', type: 'throw-error', options: { message: 'refused', code: 'REFUSED', status: 400 } }],
    });
    expect((await admin('POST', '/items/tags', { name: 'a' })).status).to.equal(400);
    const runs = await until(async () => {
      const { data } = (await admin('GET', `/flows/${id}/runs`)).body;
      return data.length > 0 && data;
    });
    expect(runs[0]).to.include({ status: 'reject', step: 'no' });
    await admin('DELETE', `/flows/${id}`);
  });

  it('a flow without accountability keeps no runs, and runs are for callers who may read the flow', async () => {
    const id = await createTestFlow(admin, {
      trigger: 'webhook',
      accountability: null,
      options: { method: 'POST' },
      steps: [{ key: 'a', type: 'log' }],
    });
    await admin('POST', `/flows/trigger/${id}`, {});
    expect((await admin('GET', `/flows/${id}/runs`)).body.data).to.deep.equal([]);
    const user = await createTestUserAccount(service, await makeRole(service));
    for (const ask of [user.ask, createUserSender(service, null)])
      expect(statusAndCodeOf(await ask('GET', `/flows/${id}/runs`))).to.deep.equal([403, 'FORBIDDEN']);
  });

  describe('POST /flows/<id>/try', () => {
    const steps = [
      { key: 'make', type: 'item-create', options: { collection: 'tags', payload: { name: '{{ $trigger.name }}' } } },
      { key: 'read', type: 'item-read', options: { collection: 'tags' } },
      {
        key: 'call',
        type: 'request',
        options: {
          method: 'POST',
          url: 'http://example.com/',
          headers: [{ header: 'Authorization', value: 'Bearer abcdefgh' }],
        },
      },
      { key: 'end', type: 'transform', options: { json: { n: '{{ read[0].name }}' } } },
    ];

    it('says what would happen, and changes nothing', async () => {
      const id = await createTestFlow(admin, { trigger: 'operation', status: 'inactive', steps });
      const { status, body } = await admin('POST', `/flows/${id}/try`, { trigger: { name: 'tried' } });
      expect(status, JSON.stringify(body)).to.equal(200);
      const { data } = body;
      expect(data.status).to.equal('resolve');
      expect(data.return).to.deep.equal({ n: 'tried' });
      expect(data.steps.map((one: { key: string }) => one.key)).to.deep.equal(['make', 'read', 'call', 'end']);
      expect(data.effects).to.have.length(1);
      expect(data.effects[0]).to.include({ type: 'request', step: 'call' });
      expect(data.changes).to.have.length(1);
      expect(data.changes[0]).to.include({ action: 'create', collection: 'tags' });
      expect(JSON.stringify(body)).to.not.include('abcdefgh');
      expect(await service.database.query('select * from tags')).to.deep.equal([]);
      expect((await admin('GET', `/activity?filter[collection][_eq]=tags`)).body.data).to.deep.equal([]);
      expect((await admin('GET', `/flows/${id}/runs`)).body.data).to.deep.equal([]);
    });

    it('is for admins, and for flows that exist', async () => {
      const id = await createTestFlow(admin, { trigger: 'operation', steps });
      const user = await createTestUserAccount(service, await makeRole(service));
      expect(statusAndCodeOf(await user.ask('POST', `/flows/${id}/try`, {}))).to.deep.equal([403, 'FORBIDDEN']);
      for (const unknown of ['11111111-2222-4333-8444-555555555555', 'x'])
        expect(statusAndCodeOf(await admin('POST', `/flows/${unknown}/try`, {}))).to.deep.equal([403, 'FORBIDDEN']);
    });
  });
});

describe('runs of an earlier version', () => {
  it('a database of an earlier version, which stored ended runs only, is changed for runs under way', async function () {
    this.timeout(60_000);
    const database = await createMigratedDatabase('flows');
    await database.query('drop table platform_flow_run_steps');
    await database.query('update platform_flow_runs set ended = now()');
    await database.query('alter table platform_flow_runs alter ended set not null, alter ended set default now()');
    await database.query(
      'alter table platform_flow_runs drop process, drop queued, drop retry_of, drop trigger, drop trigger_until',
    );
    await database.query(
      `delete from platform_migrations where id like 'system-collections-%' or id = '2026-11-27-runs-under-way'`,
    );
    const service = await startService({ database });
    try {
      const admin = createUserSender(service, service.admin.token);
      const id = await createWebhook(admin, [{ key: 'a', type: 'log' }], { async: true });
      await admin('POST', `/flows/trigger/${id}`, {});
      await until(async () => (await admin('GET', `/flows/${id}/runs`)).body.data[0]?.status === 'resolve');
    } finally {
      await service.stop();
      await database.drop();
    }
  });
});
