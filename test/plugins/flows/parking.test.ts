import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { createUserSender, type SendAsUser } from '../users/test-users.ts';
import { createTestFlow, type TestFlow, type TestStep } from './flow-fixture.ts';

const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
const name = { field: 'name', type: 'text', schema: {} };
const fail: TestStep = {
  key: 'no',
  type: 'throw-error',
  options: { message: 'the remote server is away', code: 'AWAY', status: 400 },
};

describe('flows that fail again and again', function () {
  this.timeout(120_000);
  let service: InProcessService;
  let admin: SendAsUser;
  before(async () => {
    service = await startService({ env: { FLOWS_PARK_AFTER_FAILURES: '2' } });
    admin = createUserSender(service, service.admin.token);
    await admin('POST', '/collections', { collection: 'notes', schema: {}, fields: [key, name] });
  });
  after(() => service?.stop());

  const make = (flow: Omit<TestFlow, 'steps'>, steps: readonly TestStep[] = [fail]) =>
    createTestFlow(admin, { ...flow, steps });
  const statusOf = async (flow: string) => (await admin('GET', `/flows/${flow}`)).body.data.status;
  const countsOf = async (flow: string) => (await admin('GET', `/flows/${flow}/runs`)).body.meta.counts;
  const noticesOf = async (flow: string) =>
    service.database.query<{ recipient: string; subject: string; message: string }>(
      'select recipient, subject, message from platform_notifications where item = $1',
      [flow],
    );

  it('a scheduled flow is switched off after FLOWS_PARK_AFTER_FAILURES failures in a row, and admins learn how to start it', async () => {
    const flow = await make({ trigger: 'schedule', options: { cron: '* * * * * *' } });
    await until(async () => (await statusOf(flow)) === 'inactive');
    const notices = await noticesOf(flow);
    expect(notices).to.have.length(1);
    expect(notices[0]?.subject).to.include('a flow by schedule');
    expect(notices[0]?.message).to.match(/failed 2 times in a row.*the remote server is away.*PATCH \/flows/s);
    // It counts anew when it is started again.
    await admin('PATCH', `/flows/${flow}`, { status: 'active' });
    await until(async () => (await noticesOf(flow)).length === 2);
    expect(await statusOf(flow)).to.equal('inactive');
  });

  it('the option "parkAfterFailures" of a flow takes the place of the setting; 0 is never', async () => {
    const flow = await make({ trigger: 'schedule', options: { cron: '* * * * * *', parkAfterFailures: 0 } });
    await until(async () => (await countsOf(flow)).failures >= 3);
    expect(await statusOf(flow)).to.equal('active');
    await admin('PATCH', `/flows/${flow}`, { status: 'inactive' });
  });

  it('a success begins the failures in a row anew', async () => {
    const flow = await make({ trigger: 'webhook', options: { method: 'POST', async: true, parkAfterFailures: 2 } }, [
      { key: 'check', type: 'condition', options: { filter: { $trigger: { body: { ok: { _eq: true } } } } } },
    ]);
    let runs = 0;
    for (const ok of [false, true, false, true, false]) {
      runs++;
      await admin('POST', `/flows/trigger/${flow}`, { ok });
      await until(async () => (await countsOf(flow)).runs === runs);
    }
    expect(await statusOf(flow)).to.equal('active');
    await admin('POST', `/flows/trigger/${flow}`, { ok: false });
    await until(async () => (await statusOf(flow)) === 'inactive');
  });

  it('flows whose failures are answers to clients, and event flows that do not ask for it, are never switched off', async () => {
    const option = { parkAfterFailures: 1 };
    const webhook = await make({ trigger: 'webhook', options: { method: 'POST', ...option } });
    const background = await make({ trigger: 'webhook', options: { method: 'POST', async: true } });
    const event = { scope: ['items.create'], collections: ['notes'] };
    const action = await make({ trigger: 'event', options: { type: 'action', ...event } });
    const filter = await make({ trigger: 'event', options: { type: 'filter', ...event, ...option } });
    await admin('PATCH', `/flows/${filter}`, { status: 'inactive' });
    for (let time = 0; time < 3; time++) {
      await admin('POST', '/items/notes', { name: 'x' });
      for (const flow of [webhook, background]) await admin('POST', `/flows/trigger/${flow}`, {});
    }
    await admin('PATCH', `/flows/${filter}`, { status: 'active' });
    for (let time = 0; time < 3; time++)
      expect((await admin('POST', '/items/notes', { name: 'x' })).status).to.equal(400);
    for (const flow of [webhook, background, action, filter]) {
      await until(async () => (await countsOf(flow)).failures >= 3);
      expect(await statusOf(flow)).to.equal('active');
      expect(await noticesOf(flow)).to.deep.equal([]);
    }
  });
});
