import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { until } from '../../support/until.ts';
import {
  type ExtensionTestService,
  extensionReports,
  startExtensionTestService,
  TELL_FUNCTION_SOURCE,
} from './test-service.ts';

describe('schedules of extensions', () => {
  let database: FreshDatabase;
  let testService: ExtensionTestService;
  let other: ExtensionTestService;
  before(async () => {
    database = await freshDatabase('schedule');
    testService = await startExtensionTestService({ database });
    other = await startExtensionTestService({ database });
  });
  after(async () => {
    await other?.stop();
    await testService?.stop();
    await database?.drop();
  });
  beforeEach(() => void extensionReports.splice(0));

  const hook = (body: string, name = 'clock') =>
    ({
      type: 'hook',
      name,
      files: `${TELL_FUNCTION_SOURCE}export default ({ schedule }, context) => { ${body} };`,
    }) as const;

  it('a schedule runs in one process each time, until its extension is removed', async () => {
    const tick = `schedule('* * * * * *', () => tell('tick'))`;
    const since = performance.now();
    const loaded = [await testService.load(hook(tick)), await other.load(hook(tick))];
    await until(() => extensionReports.length >= 4);
    // The schedule is due once a second; if both processes ran it, there would be twice as many reports.
    expect(extensionReports.length).to.be.at.most(Math.floor((performance.now() - since) / 1000) + 1);
    for (const one of loaded) await one.remove();
    const seen = [...extensionReports];
    await pause(1200);
    expect(extensionReports).to.deep.equal(seen);
  });

  it('two schedules with one pattern both run', async () => {
    const body = `for (const one of ['a', 'b']) schedule('* * * * * *', () => tell(one));`;
    await testService.with(hook(body), () =>
      until(() => extensionReports.includes('a') && extensionReports.includes('b')),
    );
  });

  it('a failing schedule is logged and runs again', async () => {
    await testService.with(hook(`schedule('* * * * * *', () => { tell(1); throw new Error('no'); })`), async () => {
      await until(() => extensionReports.length >= 2);
    });
    expect(testService.log.filter((line) => line.msg === 'a scheduled job failed')).to.have.length.at.least(1);
  });

  it('a schedule with an invalid pattern is left out', async () => {
    const patterns = ['', 'daily', '* * *', '61 * * * *', '* * * * * * *'];
    const body = `for (const one of ${JSON.stringify([...patterns, 7, null])}) schedule(one, () => {});`;
    await testService.with(hook(body), async () => {
      const skipped = testService.log.filter((line) => line.msg === 'a schedule is left out: its pattern is not valid');
      expect(skipped).to.have.length(patterns.length + 2);
    });
  });
});
