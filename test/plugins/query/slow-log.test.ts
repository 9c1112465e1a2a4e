import { expect } from 'chai';
import type { Log } from '#kernel';
import type { PreparedStatement } from '../../../plugins/query/contract.ts';
import { createSlowReadLog } from '../../../plugins/query/slow-log.ts';

describe('createSlowReadLog', () => {
  const lines: object[] = [];
  const log = { warn: (line: object) => void lines.push(line) } as unknown as Log;
  let rendered = 0;
  const prepared = {
    get shape() {
      rendered++;
      return 'article[id]';
    },
  } as PreparedStatement;
  beforeEach(() => {
    lines.length = 0;
  });

  it('a slow read is logged with its user or its plugin', () => {
    const record = createSlowReadLog(log, 100);
    record(prepared, { user: 'u', role: 'r' }, 100.4);
    record(prepared, { user: null, role: null, owner: 'reports@1.0.0' }, 2000);
    expect(lines).to.deep.equal([
      { ms: 100, shape: 'article[id]', user: 'u', plugin: null },
      { ms: 2000, shape: 'article[id]', user: null, plugin: 'reports@1.0.0' },
    ]);
  });

  it('a fast read renders no shape, and a threshold of zero logs nothing', () => {
    rendered = 0;
    createSlowReadLog(log, 100)(prepared, { user: null, role: null }, 99.9);
    createSlowReadLog(log, 0)(prepared, { user: null, role: null }, 5000);
    expect([lines, rendered]).to.deep.equal([[], 0]);
  });
});
