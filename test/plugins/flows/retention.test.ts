import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { createUserSender, type SendAsUser } from '../users/test-users.ts';
import { createWebhook } from './flow-fixture.ts';

describe('retention of runs of flows', function () {
  this.timeout(120_000);
  let service: InProcessService;
  let admin: SendAsUser;
  const start = async (env: Readonly<Record<string, string>>) => {
    service = await startService({
      env: { RETENTION_SCHEDULE: '* * * * * *', ACTIVITY_RETENTION: '1000d', REVISIONS_RETENTION: '1000d', ...env },
    });
    admin = createUserSender(service, service.admin.token);
  };
  afterEach(() => service?.stop());

  const count = async (table: string, condition = 'true') =>
    (await service.database.query<{ count: number }>(`select count(*)::int from ${table} where ${condition}`))[0]
      ?.count;
  const RUN_HISTORY = `action = 'run'`;

  /** Seven runs, of which the first five become 100 days old. */
  async function makeRuns(): Promise<void> {
    const flow = await createWebhook(admin, [{ key: 'a', type: 'log' }]);
    for (let run = 0; run < 7; run++) await admin('POST', `/flows/trigger/${flow}`, {});
    // One transaction, since the retention runs every second and would find some of it.
    await service.database.query(`
      update platform_activity set timestamp = timestamp - interval '100 days' where id in
        (select activity from platform_flow_runs order by started, id limit 5);
      update platform_flow_runs r set started = started - interval '100 days', ended = ended - interval '100 days'
        where exists (select from platform_activity a where a.id = r.activity and a.timestamp < now() - interval '90 days');
      update platform_activity set timestamp = timestamp - interval '100 days' where action = 'create'`);
  }

  it('deletes runs, steps, activity and revisions that are older than FLOW_LOGS_RETENTION, batch by batch, and no other history', async () => {
    await start({ RETENTION_ENABLED: 'true', RETENTION_BATCH: '2' });
    const [creations, revisions] = [await count('platform_activity', RUN_HISTORY), await count('platform_revisions')];
    expect([creations, revisions]).to.deep.equal([0, 0]);
    await makeRuns();
    await until(
      async () => (await count('platform_flow_runs')) === 2 && (await count('platform_activity', RUN_HISTORY)) === 2,
    );
    expect(await count('platform_flow_run_steps')).to.equal(2);
    expect(
      await count(
        'platform_revisions r',
        `exists (select from platform_activity a where a.id = r.activity and ${RUN_HISTORY})`,
      ),
    ).to.equal(2);
    expect(
      await count('platform_revisions r', 'not exists (select from platform_activity a where a.id = r.activity)'),
    ).to.equal(0);
    expect(
      await count('platform_activity', `action = 'create' and timestamp < now() - interval '90 days'`),
    ).to.be.above(0);
  });

  it('FLOW_LOGS_RETENTION says how long runs are kept', async () => {
    await start({ RETENTION_ENABLED: 'true', FLOW_LOGS_RETENTION: '101d' });
    await makeRuns();
    await service.database.query(
      `update platform_flow_runs set started = started - interval '2 days' where started < now() - interval '90 days'`,
    );
    await until(async () => (await count('platform_flow_runs')) === 2);
    expect(await count('platform_activity', RUN_HISTORY)).to.equal(7);
  });
});
