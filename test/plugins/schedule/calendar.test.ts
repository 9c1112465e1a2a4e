import { expect } from 'chai';
import { createDueTimes } from '../../../plugins/schedule/due-times.ts';

const at = (text: string) => new Date(text);

describe('createDueTimes()', () => {
  it('ticks of a cron expression are after the given time, never at it', () => {
    const { next } = createDueTimes({ at: '*/10 * * * * *' });
    expect(next(at('2026-01-01T00:00:00.000Z'))).to.deep.equal(at('2026-01-01T00:00:10Z'));
    expect(next(at('2026-01-01T00:00:09.999Z'))).to.deep.equal(at('2026-01-01T00:00:10Z'));
  });

  it('ticks of an interval are multiples of the interval since 1970, equal in all processes', () => {
    const { next } = createDueTimes({ at: { every: 1000 } });
    expect(next(at('2026-01-01T00:00:00.000Z'))).to.deep.equal(at('2026-01-01T00:00:01Z'));
    expect(next(at('2026-01-01T00:00:00.001Z'))).to.deep.equal(at('2026-01-01T00:00:01Z'));
  });

  it('ticks with scope "process" are multiples of the interval since the start, without missed ones', () => {
    const before = Date.now();
    const { next } = createDueTimes({ at: { every: 1000 }, scope: 'process' });
    const after = Date.now();
    const tick = next(new Date(before + 5500))?.getTime() ?? 0;
    expect(tick).to.be.within(before + 6000, after + 6000);
  });

  it('the previous due time of a cron expression is at the given time or before', () => {
    const { previous } = createDueTimes({ at: '*/10 * * * * *' });
    expect(previous(at('2026-01-01T00:00:10.000Z'))).to.deep.equal(at('2026-01-01T00:00:10Z'));
    expect(previous(at('2026-01-01T00:00:19.999Z'))).to.deep.equal(at('2026-01-01T00:00:10Z'));
    expect(previous(at('2026-01-01T00:00:09.000Z'))).to.deep.equal(at('2026-01-01T00:00:00Z'));
  });

  it('the previous due time of an interval is at the given time or before', () => {
    const { previous } = createDueTimes({ at: { every: 1000 } });
    expect(previous(at('2026-01-01T00:00:01.000Z'))).to.deep.equal(at('2026-01-01T00:00:01Z'));
    expect(previous(at('2026-01-01T00:00:01.999Z'))).to.deep.equal(at('2026-01-01T00:00:01Z'));
  });
});
