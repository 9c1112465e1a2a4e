import { expect } from 'chai';
import { createCalendar } from '../../../plugins/schedule/calendar.ts';

const at = (text: string) => new Date(text);

describe('schedule: ticks', () => {
  it('of a cron expression lie after the moment, never at it', () => {
    const calendar = createCalendar({ at: '*/10 * * * * *' });
    expect(calendar(at('2026-01-01T00:00:00.000Z'))).to.deep.equal(at('2026-01-01T00:00:10Z'));
    expect(calendar(at('2026-01-01T00:00:09.999Z'))).to.deep.equal(at('2026-01-01T00:00:10Z'));
  });

  it('of an interval are whole intervals of the clock, equal in all processes', () => {
    const calendar = createCalendar({ at: { every: 1000 } });
    expect(calendar(at('2026-01-01T00:00:00.000Z'))).to.deep.equal(at('2026-01-01T00:00:01Z'));
    expect(calendar(at('2026-01-01T00:00:00.001Z'))).to.deep.equal(at('2026-01-01T00:00:01Z'));
  });

  it('of an interval in one process are whole intervals since the start, and those that were missed are left out', () => {
    const before = Date.now();
    const calendar = createCalendar({ at: { every: 1000 }, scope: 'process' });
    const after = Date.now();
    const tick = calendar(new Date(before + 5500))?.getTime() ?? 0;
    expect(tick).to.be.within(before + 6000, after + 6000);
  });
});
