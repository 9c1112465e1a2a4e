import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import {
  FIRST_ADMIN_CREDENTIALS,
  type InProcessService,
  QUICK_HASH_SETTINGS,
  runCli,
  startService,
  TEST_SECRET,
} from '../../support/service.ts';
import { until } from '../../support/until.ts';
import {
  createTestUserAccount,
  createUserSender,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
} from '../users/test-users.ts';
import { createTestFlow, createWebhook, type TestStep } from './flow-fixture.ts';
import { type HeldServer, startHeldServer } from './held-server.ts';

const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
const name = { field: 'name', type: 'text', schema: {} };
const make: TestStep = {
  key: 'make',
  type: 'item-create',
  options: { collection: 'tags', payload: { name: '{{ $trigger.body.name }}' } },
};
const fail: TestStep = { key: 'no', type: 'throw-error', options: { message: 'on purpose' } };

const encryptionKey = randomBytes(32).toString('base64');

describe('runs under way and runs again', function () {
  this.timeout(120_000);
  let service: InProcessService;
  let admin: SendAsUser;
  let held: HeldServer;
  before(async () => {
    held = await startHeldServer();
    service = await startService({
      env: { SECRETS_ENCRYPTION_KEY: encryptionKey, IMPORT_IP_ALLOW_LIST: '127.0.0.1', LOG_LEVEL: 'error' },
    });
    admin = createUserSender(service, service.admin.token);
    await admin('POST', '/collections', { collection: 'tags', schema: {}, fields: [key, name] });
  });
  after(async () => {
    held?.stop();
    await service?.stop();
  });

  const names = async () =>
    (await service.database.query<{ name: string }>('select name from tags order by id')).map((one) => one.name);
  const runsOf = async (flow: string) => (await admin('GET', `/flows/${flow}/runs`)).body.data;
  const untilStatus = (flow: string, status: string) =>
    until(async () => {
      const [run] = await runsOf(flow);
      return run?.status === status && run;
    });

  describe('POST /flows/<id>/runs/<run>/cancel', () => {
    it('a run under way is seen, and ends without its further operations when it is cancelled', async () => {
      const flow = await createWebhook(admin, [held.step, make], { async: true });
      const before = held.count();
      await admin('POST', `/flows/trigger/${flow}`, { name: 'never' });
      const run = await untilStatus(flow, 'running');
      expect(run).to.include({ ended: null, duration: null });
      await until(() => held.count() > before);
      expect((await admin('POST', `/flows/${flow}/runs/${run.id}/cancel`)).status).to.equal(204);
      expect((await runsOf(flow))[0].status).to.equal('cancelled');
      const { steps } = await until(async () => {
        const { data } = (await admin('GET', `/flows/${flow}/runs/${run.id}`)).body;
        return data.steps.length > 0 && data;
      });
      expect(steps).to.have.length(1);
      expect(steps[0]).to.include({ key: 'wait', status: 'reject' });
      expect(steps[0].output.message).to.equal('the run was cancelled');
      held.answer();
      expect((await runsOf(flow))[0].status).to.equal('cancelled');
      expect(await names()).to.not.include('never');
      expect(statusAndCodeOf(await admin('POST', `/flows/${flow}/runs/${run.id}/cancel`))).to.deep.equal([
        400,
        'INVALID_PAYLOAD',
      ]);
    });

    it('what an operation gave is stored with U+FFFD in place of NUL, which PostgreSQL does not store', async () => {
      const flow = await createWebhook(admin, [held.step], { async: true });
      const before = held.count();
      await admin('POST', `/flows/trigger/${flow}`, {});
      await until(() => held.count() > before);
      held.answer();
      const run = await untilStatus(flow, 'resolve');
      const { steps } = (await admin('GET', `/flows/${flow}/runs/${run.id}`)).body.data;
      expect(steps[0].output.data).to.deep.equal({ text: 'a\ufffdb\ufffd' });
    });

    it('a cancelled run ends the flow that it has called', async () => {
      const called = await createTestFlow(admin, { trigger: 'operation', steps: [held.step, make] });
      const flow = await createWebhook(
        admin,
        [
          { key: 'call', type: 'trigger', options: { flow: called, payload: { body: { name: 'by a called flow' } } } },
          make,
        ],
        { async: true },
      );
      const before = held.count();
      await admin('POST', `/flows/trigger/${flow}`, { name: 'after the called flow' });
      await until(() => held.count() > before);
      const run = await untilStatus(flow, 'running');
      await admin('POST', `/flows/${flow}/runs/${run.id}/cancel`);
      held.answer();
      await until(async () => (await admin('GET', `/flows/${flow}/runs/${run.id}`)).body.data.steps.length > 0);
      expect((await runsOf(called))[0]).to.include({ status: 'reject', step: 'wait' });
      expect(await names()).to.not.include.members(['by a called flow']);
      expect(await names()).to.not.include.members(['after the called flow']);
    });

    it('a run that waits never begins when it is cancelled', async () => {
      const flow = await createWebhook(admin, [held.step], { async: true });
      const later = await createWebhook(admin, [make], { async: true });
      const before = held.count();
      // As many as FLOWS_BACKGROUND_CONCURRENCY allows at a time.
      for (let count = 0; count < 4; count++) await admin('POST', `/flows/trigger/${flow}`, {});
      await until(() => held.count() === before + 4);
      await admin('POST', `/flows/trigger/${later}`, { name: 'cancelled before' });
      const run = await untilStatus(later, 'waiting');
      expect((await admin('POST', `/flows/${later}/runs/${run.id}/cancel`)).status).to.equal(204);
      await admin('POST', `/flows/trigger/${later}`, { name: 'the next' });
      held.answer();
      await until(async () => (await names()).includes('the next'));
      expect(await names()).to.not.include('cancelled before');
      const { data } = (await admin('GET', `/flows/${later}/runs?status=cancelled`)).body;
      expect(data.map((one: { id: string }) => one.id)).to.deep.equal([run.id]);
    });

    it('a scheduled run is seen while it runs, and can be cancelled', async () => {
      const before = held.count();
      const flow = await createTestFlow(admin, {
        trigger: 'schedule',
        options: { cron: '* * * * * *' },
        steps: [held.step, make],
      });
      await until(() => held.count() > before);
      const run = await untilStatus(flow, 'running');
      expect((await admin('POST', `/flows/${flow}/runs/${run.id}/cancel`)).status).to.equal(204);
      const statusOfRun = async () => (await admin('GET', `/flows/${flow}/runs/${run.id}`)).body.data.status;
      await until(async () => (await statusOfRun()) === 'cancelled');
      await admin('PATCH', `/flows/${flow}`, { status: 'inactive' });
      held.answer();
    });
  });

  describe('POST /flows/<id>/runs/<run>/retry', () => {
    it('runs the flow again with its trigger and for its caller', async () => {
      const flow = await createWebhook(admin, [make, fail], { keepTrigger: '1d' });
      const user = await createTestUserAccount(
        service,
        await makeRole(service, {}, [{ collection: 'tags', action: 'create' }]),
      );
      await user.ask('POST', `/flows/trigger/${flow}`, { name: 'again', password: 'of the client' });
      const [failed] = await runsOf(flow);
      expect(failed.status).to.equal('reject');
      expect(Date.parse(failed.retry_until)).to.be.above(Date.now());
      const stored = await service.database.query('select * from platform_flow_runs where id = $1', [failed.id]);
      expect(JSON.stringify(stored)).to.not.include('of the client');
      const { status, body } = await admin('POST', `/flows/${flow}/runs/${failed.id}/retry`);
      expect(status, JSON.stringify(body)).to.equal(200);
      const again = await until(async () => {
        const [run] = await runsOf(flow);
        return run.id === body.data.id && run.status === 'reject' && run;
      });
      expect(again).to.include({ retry_of: failed.id, user: user.id });
      expect((await names()).filter((one) => one === 'again')).to.have.length(2);
    });

    it('a scheduled run is run again for no caller', async () => {
      const flow = await createTestFlow(admin, {
        trigger: 'schedule',
        options: { cron: '* * * * * *', keepTrigger: '1h' },
        steps: [{ ...make, options: { collection: 'tags', payload: { name: 'by schedule' } } }],
      });
      const first = await untilStatus(flow, 'resolve');
      await admin('PATCH', `/flows/${flow}`, { options: { cron: '0 0 1 1 *' } });
      const { body } = await admin('POST', `/flows/${flow}/runs/${first.id}/retry`);
      const again = await until(async () => {
        const { data } = (await admin('GET', `/flows/${flow}/runs/${body.data.id}`)).body;
        return data?.status === 'resolve' && data;
      });
      expect(again.user).to.equal(null);
    });

    it('refuses what was not kept, an inactive flow, and callers that are no admins', async () => {
      const flow = await createWebhook(admin, [make]);
      await admin('POST', `/flows/trigger/${flow}`, { name: 'once' });
      const [run] = await runsOf(flow);
      const path = `/flows/${flow}/runs/${run.id}/retry`;
      const refused = await admin('POST', path);
      expect(statusAndCodeOf(refused)).to.deep.equal([400, 'INVALID_PAYLOAD']);
      expect(refused.body.errors[0].message).to.include('keepTrigger');
      await admin('PATCH', `/flows/${flow}`, { options: { method: 'POST', keepTrigger: '7d' } });
      await admin('POST', `/flows/trigger/${flow}`, { name: 'kept' });
      await admin('PATCH', `/flows/${flow}`, { status: 'inactive' });
      const [kept] = await runsOf(flow);
      const inactive = await admin('POST', `/flows/${flow}/runs/${kept.id}/retry`);
      expect(inactive.body.errors[0].message).to.include('inactive');
      const user = await createTestUserAccount(service, await makeRole(service));
      for (const verb of ['retry', 'cancel'])
        for (const ask of [user.ask, createUserSender(service, null)])
          expect(statusAndCodeOf(await ask('POST', `/flows/${flow}/runs/${kept.id}/${verb}`))).to.deep.equal([
            403,
            'FORBIDDEN',
          ]);
      for (const unknown of ['11111111-2222-4333-8444-555555555555', 'x'])
        for (const verb of ['retry', 'cancel'])
          expect(statusAndCodeOf(await admin('POST', `/flows/${flow}/runs/${unknown}/${verb}`))).to.deep.equal([
            403,
            'FORBIDDEN',
          ]);
    });

    it('an option "keepTrigger" that is no duration keeps nothing, and the run goes on', async () => {
      const flow = await createWebhook(admin, [make], { keepTrigger: 'for ever' });
      await admin('POST', `/flows/trigger/${flow}`, { name: 'goes on' });
      expect((await runsOf(flow))[0]).to.include({ status: 'resolve', retry_until: null });
    });
  });

  it('the command "flows retry" adds a run, which the service runs', async () => {
    const flow = await createWebhook(admin, [make], { keepTrigger: '1d' });
    await admin('POST', `/flows/trigger/${flow}`, { name: 'by command' });
    const [first] = await runsOf(flow);
    const command = runCli(['flows', 'retry', first.id], {
      ...QUICK_HASH_SETTINGS,
      LOG_LEVEL: 'silent',
      CONFIG_PATH: '/dev/null',
      EXTENSIONS_PATH: '/dev/null',
      DB_CONNECTION_STRING: service.database.url,
      SECRET: TEST_SECRET,
      SECRETS_ENCRYPTION_KEY: encryptionKey,
      ADMIN_EMAIL: FIRST_ADMIN_CREDENTIALS.email,
      ADMIN_PASSWORD: FIRST_ADMIN_CREDENTIALS.password,
    });
    expect(await command.ended, command.output()).to.equal(0);
    const [again] = await until(async () => {
      const runs = await runsOf(flow);
      return runs[0].id !== first.id && runs[0].status === 'resolve' && runs;
    });
    expect(command.output()).to.include(again.id);
    expect((await names()).filter((one) => one === 'by command')).to.have.length(2);
  });

  it('a run whose job is a dead letter or gone is interrupted, not one that waits for ever', async () => {
    const flow = await createWebhook(admin, [make]);
    const id = '11111111-2222-4333-8444-555555555555';
    await service.database.query(
      `insert into platform_flow_runs (id, flow, status, started, queued) values ($1, $2, 'waiting', now(), true)`,
      [id, flow],
    );
    const { data } = (await admin('GET', `/flows/${flow}/runs/${id}`)).body;
    expect(data.status).to.equal('interrupted');
    expect(data.error.message).to.equal('its job is gone');
  });

  it('a run whose end cannot be recorded does not stay under way', async () => {
    const flow = await createWebhook(admin, [held.step], { async: true });
    const before = held.count();
    await admin('POST', `/flows/trigger/${flow}`, {});
    await until(() => held.count() > before);
    await untilStatus(flow, 'running');
    await service.database.query('alter table platform_activity rename to platform_activity_away');
    held.answer();
    const isLogged = () => service.log.some(({ msg }) => msg === 'a run of a flow could not be recorded');
    await until(isLogged);
    await service.database.query('alter table platform_activity_away rename to platform_activity');
    const run = await untilStatus(flow, 'interrupted');
    expect(run.error.message).to.equal('its end could not be recorded');
  });

  it('a job whose caller may not act any more is a failed run, and a dead letter an interrupted one, which an admin runs again', async () => {
    const flow = await createWebhook(admin, [held.step], { async: true });
    const later = await createWebhook(admin, [make], { async: true });
    const before = held.count();
    for (let count = 0; count < 4; count++) await admin('POST', `/flows/trigger/${flow}`, {});
    await until(() => held.count() === before + 4);
    const user = await createTestUserAccount(service, await makeRole(service));
    await user.ask('POST', `/flows/trigger/${later}`, { name: 'suspended' });
    await admin('PATCH', `/users/${user.id}`, { status: 'suspended' });
    held.answer();
    const run = await untilStatus(later, 'reject');
    expect(run.error.message).to.include('USER_SUSPENDED');
    // As after a process that died each time it ran the job.
    await service.database.query(`update platform_flow_runs set status = 'waiting', ended = null where id = $1`, [
      run.id,
    ]);
    const { data } = (await admin('GET', `/flows/${later}/runs/${run.id}`)).body;
    expect(data.status).to.equal('interrupted');
    const [path] = /\/queues\/\S+/.exec(data.error.message) ?? [];
    await admin('PATCH', `/users/${user.id}`, { status: 'active' });
    expect((await admin('POST', path as string)).status).to.equal(204);
    // The role may not create tags, so the chain runs and fails.
    await until(async () => (await admin('GET', `/flows/${later}/runs/${run.id}`)).body.data.step === 'make');
  });
});

describe('runs without SECRETS_ENCRYPTION_KEY', function () {
  this.timeout(120_000);
  it('keep no trigger, and a retry says why', async () => {
    const service = await startService();
    try {
      const admin = createUserSender(service, service.admin.token);
      const flow = await createWebhook(admin, [fail], { keepTrigger: '7d' });
      await admin('POST', `/flows/trigger/${flow}`, {});
      const [run] = (await admin('GET', `/flows/${flow}/runs`)).body.data;
      expect(run.retry_until).to.equal(null);
      const { status, body } = await admin('POST', `/flows/${flow}/runs/${run.id}/retry`);
      expect(status).to.equal(400);
      expect(body.errors[0].message).to.include('SECRETS_ENCRYPTION_KEY');
    } finally {
      await service.stop();
    }
  });
});
