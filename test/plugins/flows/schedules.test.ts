import { expect } from 'chai';
import {
  type InProcessService,
  QUICK_HASH_SETTINGS,
  runCli,
  spawnService,
  startService,
  TEST_SECRET,
} from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { createUserSender, type SendAsUser } from '../users/test-users.ts';
import { createTestFlow } from './flow-fixture.ts';

const HOUR = 3_600_000;
const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
const name = { field: 'name', type: 'text', schema: {} };

describe('schedules of flows', function () {
  this.timeout(180_000);
  let service: InProcessService;
  let admin: SendAsUser;
  beforeEach(async () => {
    service = await startService();
    admin = createUserSender(service, service.admin.token);
    await admin('POST', '/collections', { collection: 'notes', schema: {}, fields: [key, name] });
  });
  afterEach(() => service?.stop());

  const note = (text: string) => ({
    key: text,
    type: 'item-create',
    options: { collection: 'notes', payload: { name: text } },
  });
  const notes = async () =>
    (await service.database.query<{ name: string }>('select name from notes order by id')).map((one) => one.name);
  const hourly = (missed: string, more: object = {}) =>
    createTestFlow(admin, {
      trigger: 'schedule',
      options: { cron: '0 * * * *', missed, ...more },
      steps: [note('tick')],
    });
  /** Makes the last tick of the flow one some hours ago, as if no process had been up since. */
  const moveBack = (flow: string, hours: number) =>
    service.database.query(
      `insert into platform_schedule_ticks (schedule, tick, process, finished)
        select 'flow ' || $1, date_trunc('hour', now()) - make_interval(hours => $2), gen_random_uuid(), now()`,
      [flow, hours],
    );
  const clearTicks = () => service.database.query('delete from platform_schedule_ticks');

  for (const [missed, expected] of [
    ['all', 5],
    ['once', 1],
    ['skip', 0],
  ] as const)
    it(`missed: ${missed} runs ${expected} of five ticks that came while no process was up`, async () => {
      const flow = await hourly(missed);
      const { database } = service;
      await clearTicks();
      await moveBack(flow, 5);
      const others = await Promise.all([spawnService({ database }), spawnService({ database })]);
      try {
        // A flow by the clock shows that the schedules of these processes have started.
        await createTestFlow(admin, {
          trigger: 'schedule',
          options: { cron: '* * * * * *' },
          steps: [note('started')],
        });
        await until(async () => (await notes()).includes('started'));
        const ticks = async () => (await notes()).filter((one) => one === 'tick').length;
        await until(async () => (await ticks()) >= expected);
        // The end of a run is recorded after its last operation.
        const unfinished = 'select tick from platform_schedule_ticks where schedule = $1 and finished is null';
        await until(async () => (await database.query(unfinished, [`flow ${flow}`])).length === 0);
        expect(await ticks()).to.equal(expected);
      } finally {
        for (const other of others) await other.stop();
      }
    });

  it('a flow that was inactive, or had another schedule, has missed nothing', async () => {
    const flow = await hourly('all');
    await admin('PATCH', `/flows/${flow}`, { status: 'inactive' });
    await clearTicks();
    await moveBack(flow, 5);
    await admin('PATCH', `/flows/${flow}`, { status: 'active' });
    const isLastTick = async () => {
      const [row] = await service.database.query<{ tick: Date }>(
        'select max(tick) as tick from platform_schedule_ticks where schedule = $1',
        [`flow ${flow}`],
      );
      return Date.now() - Number(row?.tick) < HOUR;
    };
    await until(isLastTick);
    expect(await notes()).to.deep.equal([]);
  });

  it('overlap: queue runs every tick in turn, over two processes, and never two at once', async () => {
    const other = await spawnService({ database: service.database });
    try {
      await createTestFlow(admin, {
        trigger: 'schedule',
        options: { cron: '* * * * * *', overlap: 'queue' },
        steps: [note('begin'), { key: 'wait', type: 'sleep', options: { milliseconds: 1400 } }, note('end')],
      });
      await until(async () => (await notes()).length >= 8);
    } finally {
      await other.stop();
    }
    const all = (await notes()).slice(0, 8);
    expect(all).to.deep.equal(['begin', 'end', 'begin', 'end', 'begin', 'end', 'begin', 'end']);
    const waiting = await service.database.query(
      `select tick from platform_schedule_ticks where finished is null and schedule like 'flow %'`,
    );
    expect(waiting.length).to.be.above(0);
  });

  it('a command of the command line runs no ticks', async () => {
    const flow = await hourly('all');
    await clearTicks();
    await moveBack(flow, 5);
    const command = runCli(['flows', 'list'], {
      ...QUICK_HASH_SETTINGS,
      LOG_LEVEL: 'silent',
      CONFIG_PATH: '/dev/null',
      EXTENSIONS_PATH: '/dev/null',
      DB_CONNECTION_STRING: service.database.url,
      SECRET: TEST_SECRET,
    });
    expect(await command.ended, command.output()).to.equal(0);
    expect(command.standardOutput()).to.include(flow);
    expect(await service.database.query('select 1 from platform_schedule_ticks')).to.have.length(1);
    expect(await notes()).to.deep.equal([]);
  });
});
