import { expect } from 'chai';
import { createNextDueTimeFinder } from '../../../plugins/schedule/next-due-time.ts';

const at = (text: string) => new Date(text);

describe('createNextDueTimeFinder()', () => {
  it('ticks of a cron expression are after the given time, never at it', () => {
    const calendar = createNextDueTimeFinder({ at: '*/10 * * * * *' });
    expect(calendar(at('2026-01-01T00:00:00.000Z'))).to.deep.equal(at('2026-01-01T00:00:10Z'));
    expect(calendar(at('2026-01-01T00:00:09.999Z'))).to.deep.equal(at('2026-01-01T00:00:10Z'));
  });

  it('ticks of an interval are multiples of the interval since 1970, equal in all processes', () => {
    const calendar = createNextDueTimeFinder({ at: { every: 1000 } });
    expect(calendar(at('2026-01-01T00:00:00.000Z'))).to.deep.equal(at('2026-01-01T00:00:01Z'));
    expect(calendar(at('2026-01-01T00:00:00.001Z'))).to.deep.equal(at('2026-01-01T00:00:01Z'));
  });

  it('ticks with scope "process" are multiples of the interval since the start, without missed ones', () => {
    const before = Date.now();
    const calendar = createNextDueTimeFinder({ at: { every: 1000 }, scope: 'process' });
    const after = Date.now();
    const tick = calendar(new Date(before + 5500))?.getTime() ?? 0;
    expect(tick).to.be.within(before + 6000, after + 6000);
  });
});
