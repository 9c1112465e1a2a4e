import { expect } from 'chai';
import type { FreshDatabase } from '../../support/database.ts';
import {
  createMigratedDatabase,
  type InProcessService,
  type SpawnedService,
  spawnService,
} from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { createUserSender, type SendAsUser } from '../users/test-users.ts';
import { createTestFlow, createWebhook } from './flow-fixture.ts';
import { type HeldServer, startHeldServer } from './held-server.ts';

const ENV = { IMPORT_IP_ALLOW_LIST: '127.0.0.1', FLOWS_BACKGROUND_CONCURRENCY: '1', FLOWS_PARK_AFTER_FAILURES: '3' };

describe('runs of flows in two processes', function () {
  this.timeout(240_000);
  let database: FreshDatabase;
  let services: SpawnedService[];
  let held: HeldServer;
  const senderOf = (service: SpawnedService | undefined): SendAsUser =>
    createUserSender(service as unknown as InProcessService, (service as SpawnedService).admin.token);
  before(async () => {
    held = await startHeldServer();
    database = await createMigratedDatabase('flows');
    services = await Promise.all([spawnService({ database, env: ENV }), spawnService({ database, env: ENV })]);
  });
  after(async () => {
    held?.stop();
    await Promise.all((services ?? []).map((service) => service.stop()));
    await database?.drop();
  });

  const runOf = async (ask: SendAsUser, flow: string) => (await ask('GET', `/flows/${flow}/runs`)).body.data[0];

  it('a run is cancelled from another process than the one that runs it', async () => {
    const [one, two] = services.map(senderOf) as [SendAsUser, SendAsUser];
    const flow = await createWebhook(one, [held.step, { key: 'end', type: 'log' }], { async: true });
    // Each process runs one at a time, so each has a run.
    const before = held.count();
    for (let count = 0; count < 2; count++) await one('POST', `/flows/trigger/${flow}`, {});
    await until(() => held.count() === before + 2);
    const { data } = (await two('GET', `/flows/${flow}/runs?status=running`)).body;
    expect(data).to.have.length(2);
    for (const { id } of data) expect((await two('POST', `/flows/${flow}/runs/${id}/cancel`)).status).to.equal(204);
    held.answer();
    await until(async () => {
      const runs = await Promise.all(
        data.map(async ({ id }: { id: string }) => (await one('GET', `/flows/${flow}/runs/${id}`)).body.data),
      );
      return runs.every(({ status, steps }) => status === 'cancelled' && steps.length > 0);
    });
  });

  it('a flow that fails in both processes is parked once, by a recorded write, and each admin is notified once', async () => {
    const [one, two] = services.map(senderOf) as [SendAsUser, SendAsUser];
    const flow = await createTestFlow(one, {
      trigger: 'webhook',
      options: { method: 'POST', async: true, parkAfterFailures: 6 },
      steps: [{ key: 'no', type: 'throw-error', options: { message: 'on purpose' } }],
    });
    await Promise.all(
      Array.from({ length: 12 }, (_, at) => (at % 2 ? one : two)('POST', `/flows/trigger/${flow}`, {})),
    );
    await until(async () => (await one('GET', `/flows/${flow}`)).body.data.status === 'inactive');
    const notices = await database.query<{ subject: string; message: string; item: string }>(
      'select subject, message, item from platform_notifications where item = $1',
      [flow],
    );
    expect(notices).to.have.length(1);
    expect(notices[0]?.message).to.include('on purpose').and.include(`PATCH /flows/${flow}`);
    const changes = await database.query(
      `select r.delta from platform_activity a join platform_revisions r on r.activity = a.id
      where a.action = 'update' and a.item = $1 and r.delta->>'status' = 'inactive'`,
      [flow],
    );
    expect(changes).to.have.length(1);
  });

  it('a run whose process stops in order waits, and another process runs it', async () => {
    const third = await spawnService({ database, env: ENV });
    const ask = senderOf(services[0]);
    const flow = await createWebhook(ask, [held.step, { key: 'end', type: 'log' }], { async: true });
    const before = held.count();
    for (let count = 0; count < 3; count++) await ask('POST', `/flows/trigger/${flow}`, {});
    await until(() => held.count() === before + 3);
    // The service waits for the request, in vain, and ends.
    expect(await third.kill()).to.equal(0);
    await third.stop();
    await until(async () => {
      const { data } = (await ask('GET', `/flows/${flow}/runs?status=waiting`)).body;
      return data.length === 1;
    });
    await until(async () => {
      held.answer();
      const { data } = (await ask('GET', `/flows/${flow}/runs?status=resolve`)).body;
      return data.length === 3;
    }, 150_000);
  });

  it('a run whose process is killed waits until another one runs it', async () => {
    const [victim, other] = services as [SpawnedService, SpawnedService];
    const ask = senderOf(other);
    const flow = await createWebhook(ask, [held.step, { key: 'end', type: 'log' }], { async: true });
    const before = held.count();
    for (let count = 0; count < 2; count++) await ask('POST', `/flows/trigger/${flow}`, {});
    await until(() => held.count() === before + 2);
    await victim.kill('SIGKILL');
    const waiting = await until(async () => {
      const { data } = (await ask('GET', `/flows/${flow}/runs?status=waiting`)).body;
      return data.length === 1 && data[0];
    });
    expect((await ask('GET', `/flows/${flow}/runs/${waiting.id}`)).body.data.status).to.equal('waiting');
    // The job is taken over when its heartbeats have been missing for a while.
    const done = await until(async () => {
      held.answer();
      const { data } = (await ask('GET', `/flows/${flow}/runs/${waiting.id}`)).body;
      return data.status === 'resolve' && data;
    }, 150_000);
    expect(done.steps.map(({ key }: { key: string }) => key)).to.deep.equal(['wait', 'end']);
    expect((await runOf(ask, flow)).status).to.equal('resolve');
  });

  it('a scheduled run whose process is killed is shown as interrupted', async () => {
    const victim = services[1] as SpawnedService;
    const before = held.count();
    const flow = await createTestFlow(senderOf(victim), {
      trigger: 'schedule',
      options: { cron: '* * * * * *' },
      steps: [held.step],
    });
    await until(() => held.count() > before);
    await victim.kill('SIGKILL');
    const next = await spawnService({ database, env: ENV });
    services.push(next);
    const ask = senderOf(next);
    const interrupted = await until(async () => {
      const { data } = (await ask('GET', `/flows/${flow}/runs?status=interrupted`)).body;
      return data.length > 0 && data;
    });
    expect(interrupted[0].ended).to.not.equal(null);
    expect(interrupted[0].error.message).to.include('has ended');
    held.answer();
  });
});
