import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { REPORT, reports, startTestService, type TestService, until } from './test-service.ts';

describe('schedules of extensions', () => {
  let database: FreshDatabase;
  let stage: TestService;
  let other: TestService;
  before(async () => {
    database = await freshDatabase('schedule');
    stage = await startTestService({ database });
    other = await startTestService({ database });
  });
  after(async () => {
    await other?.stop();
    await stage?.stop();
    await database?.drop();
  });
  beforeEach(() => void reports.splice(0));

  const hook = (body: string, name = 'clock') =>
    ({ type: 'hook', name, files: `${REPORT}export default ({ schedule }, context) => { ${body} };` }) as const;

  it('run in one process each time, until they are taken away', async () => {
    const tick = `schedule('* * * * * *', () => tell('tick'))`;
    const since = performance.now();
    const loaded = [await stage.load(hook(tick)), await other.load(hook(tick))];
    await until(() => reports.length >= 4);
    // As many as there were seconds: each in both processes would be twice as many.
    expect(reports.length).to.be.at.most(Math.floor((performance.now() - since) / 1000) + 1);
    for (const one of loaded) await one.remove();
    const seen = [...reports];
    await pause(1200);
    expect(reports).to.deep.equal(seen);
  });

  it('of one pattern are several', async () => {
    const body = `for (const one of ['a', 'b']) schedule('* * * * * *', () => tell(one));`;
    await stage.with(hook(body), () => until(() => reports.includes('a') && reports.includes('b')));
  });

  it('that fail are in the log, and run again', async () => {
    await stage.with(hook(`schedule('* * * * * *', () => { tell(1); throw new Error('no'); })`), async () => {
      await until(() => reports.length >= 2);
    });
    expect(stage.log.filter((line) => line.msg === 'a schedule failed')).to.have.length.at.least(1);
  });

  it('are left out where their pattern is none', async () => {
    const patterns = ['', 'daily', '* * *', '61 * * * *', '* * * * * * *'];
    const body = `for (const one of ${JSON.stringify([...patterns, 7, null])}) schedule(one, () => {});`;
    await stage.with(hook(body), async () => {
      const skipped = stage.log.filter((line) => line.msg === 'a schedule is left out: its pattern is not valid');
      expect(skipped).to.have.length(patterns.length + 2);
    });
  });
});
