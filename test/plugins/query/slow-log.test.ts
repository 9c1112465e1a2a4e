import { expect } from 'chai';
import type { Log } from '#kernel';
import type { Prepared } from '../../../plugins/query/contract.ts';
import { createSlowLog } from '../../../plugins/query/slow-log.ts';

describe('the log of slow reads', () => {
  const lines: object[] = [];
  const log = { warn: (line: object) => void lines.push(line) } as unknown as Log;
  let made = 0;
  const prepared = {
    get shape() {
      made++;
      return 'article[id]';
    },
  } as Prepared;
  beforeEach(() => {
    lines.length = 0;
  });

  it('tells whose read it was: a user or a plugin', () => {
    const note = createSlowLog(log, 100);
    note(prepared, { user: 'u', role: 'r' }, 100.4);
    note(prepared, { user: null, role: null, owner: 'reports@1.0.0' }, 2000);
    expect(lines).to.deep.equal([
      { ms: 100, shape: 'article[id]', user: 'u', askedBy: null },
      { ms: 2000, shape: 'article[id]', user: null, askedBy: 'reports@1.0.0' },
    ]);
  });

  it('makes no shape for a read that is fast, and is off at zero', () => {
    made = 0;
    createSlowLog(log, 100)(prepared, { user: null, role: null }, 99.9);
    createSlowLog(log, 0)(prepared, { user: null, role: null }, 5000);
    expect([lines, made]).to.deep.equal([[], 0]);
  });
});
