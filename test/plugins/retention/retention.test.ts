import { expect } from 'chai';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import { captureError } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';

describe('retention', function () {
  this.timeout(120_000);
  let service: InProcessService | undefined;
  let database: FreshDatabase | undefined;
  afterEach(async () => {
    await service?.stop();
    await database?.drop();
    service = undefined;
    database = undefined;
  });

  const start = async (env: Readonly<Record<string, string>>) => {
    const schedule = { RETENTION_ENABLED: 'true', RETENTION_SCHEDULE: '* * * * * *', LOG_LEVEL: 'info' };
    service = await startService({ env: { ...schedule, ...env }, ...(database ? { database } : {}) });
    return service;
  };
  const query = async <Row>(text: string) =>
    (await (service as InProcessService).database.query(text)) as unknown as Row[];
  /** Actions and ages in days of the activity of the test, each with the number of its revisions. */
  const history = async () =>
    (
      await query<{ text: string }>(`select action || ' ' || item || ' ' ||
        (select count(*) from platform_revisions r where r.activity = a.id) as text
        from platform_activity a where collection = 'note' order by id`)
    ).map(({ text }) => text);
  const revisionsWithoutActivity = async () =>
    (
      await query<{ item: string }>(`select item from platform_revisions r
        where not exists (select from platform_activity a where a.id = r.activity) order by id`)
    ).map(({ item }) => item);

  /** For each age a sign-in, a delete and an update with two revisions. The item is the age in days. */
  const addHistory = (ages: readonly number[]) =>
    query(`with ages as (select unnest(array[${ages}]) as age),
      a as (insert into platform_activity (action, collection, item, timestamp)
        select action, 'note', age::text, now() - age * interval '1 day'
        from ages, unnest(array['login', 'delete', 'update']) action returning id, action, item)
      insert into platform_revisions (activity, collection, item, data)
        select a.id, 'note', a.item, '{}' from a, generate_series(1, 2) where action = 'update'`);
  const hasRun = (text: string) =>
    until(async () => (service as InProcessService).log.some(({ msg }) => String(msg).includes(text)));

  it('deletes activity and revisions that are older than their settings, batch by batch, and no others', async () => {
    await start({ RETENTION_BATCH: '3', ACTIVITY_RETENTION: '50d', REVISIONS_RETENTION: '50d' });
    await addHistory([400, 60, 49, 0]);
    await until(async () => (await history()).length === 6);
    expect(await history()).to.have.members([
      ...['login 49 0', 'delete 49 0', 'update 49 2'],
      ...['login 0 0', 'delete 0 0', 'update 0 2'],
    ]);
    expect(await revisionsWithoutActivity()).to.deep.equal([]);
    await hasRun('retention: ');
  });

  it('keeps activity without its revisions where REVISIONS_RETENTION is shorter', async () => {
    await start({ ACTIVITY_RETENTION: '90d', REVISIONS_RETENTION: '50d' });
    await addHistory([100, 60, 40]);
    await until(async () => (await history()).length === 6);
    expect(await history()).to.include.members(['update 60 0', 'login 60 0', 'update 40 2']);
  });

  it('keeps activity of created and updated rows as long as revisions where REVISIONS_RETENTION is longer', async () => {
    await start({ ACTIVITY_RETENTION: '50d', REVISIONS_RETENTION: '90d' });
    await addHistory([100, 60, 40]);
    await until(async () => (await history()).length === 4);
    expect(await history()).to.have.members(['update 60 2', 'login 40 0', 'delete 40 0', 'update 40 2']);
    expect(await revisionsWithoutActivity()).to.deep.equal([]);
  });

  it('deletes revisions whose activity is gone where younger activity is old, and keeps those of recent rows', async () => {
    database = await freshDatabase('retention');
    await start({ RETENTION_ENABLED: 'false' });
    await addHistory([400, 0]);
    await query(`delete from platform_activity where action = 'update' and collection = 'note'`);
    await query(`insert into platform_activity (action, collection, item, timestamp) values ('login', 'note', '100', now() - interval '100 days'),
      ('login', 'note', '1', now() - interval '1 day')`);
    await query(`insert into platform_revisions (activity, collection, item, data)
      select max(id) + 1, 'note', 'recent', '{}' from platform_activity`);
    await service?.stop();
    await start({});
    await until(async () => (await revisionsWithoutActivity()).length === 1);
    expect(await revisionsWithoutActivity()).to.deep.equal(['recent']);
  });

  it('deletes nothing where RETENTION_ENABLED is off', async () => {
    await start({ RETENTION_ENABLED: 'false' });
    await addHistory([1000]);
    const jobs = await query(`select from platform_schedule_ticks where schedule = 'retention'`);
    expect([(await history()).length, jobs.length]).to.deep.equal([3, 0]);
  });

  it('ends with the running batch when the service stops, and goes on after the next start', async () => {
    database = await freshDatabase('retention');
    await start({ RETENTION_BATCH: '1', RETENTION_ENABLED: 'false' });
    await addHistory(Array.from({ length: 200 }, (_, at) => 100 + at));
    await service?.stop();
    await start({ RETENTION_BATCH: '1' });
    await until(async () => (await query('select from platform_revisions')).length < 390);
    const begin = performance.now();
    await service?.stop();
    expect(performance.now() - begin).to.be.below(5000);
    const left = (await database.query('select from platform_revisions')).length;
    expect(left).to.be.above(0);
    await start({ RETENTION_BATCH: '500' });
    await until(async () => (await history()).length === 0);
    expect(await revisionsWithoutActivity()).to.deep.equal([]);
  });

  it('a schedule that is no cron expression stops the start', async () => {
    const error = await captureError(startService({ env: { RETENTION_SCHEDULE: 'now and then' } }));
    expect(error.message).to.include('RETENTION_SCHEDULE');
  });
});
