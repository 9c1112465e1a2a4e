import { expect } from 'chai';
import { Ledger, MERGED_LEDGER_ENTRIES_LABEL } from '../../kernel/capabilities/ledger.ts';

describe('Ledger', () => {
  it('counts entries beyond its limit under "others"', () => {
    const ledger = new Ledger();
    for (let at = 0; at < 3; at++) ledger.record('denied', 'ext', 'items.readMany secrets');
    ledger.record('denied', 'other', 'mine');
    for (let at = 0; at < 2000; at++) ledger.record('remote', 'ext', `items.readMany made up ${at}`);
    const own = ledger.entries().filter(({ plugin }) => plugin === 'ext');
    expect(own.length).to.be.below(510);
    const sum = (kind: string) => own.filter((one) => one.kind === kind).reduce((all, { count }) => all + count, 0);
    expect([sum('denied'), sum('remote')]).to.deep.equal([3, 2000]);
    expect(own.find(({ kind }) => kind === 'denied')).to.include({ what: MERGED_LEDGER_ENTRIES_LABEL, count: 3 });
    expect(ledger.entries().find(({ plugin }) => plugin === 'other')).to.include({ what: 'mine', count: 1 });
  });
});
