import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from '../support/manifests.ts';
import { inOrder, LONG_FIRST } from '../support/order.ts';

describe('the order of test files in a run', () => {
  it('LONG_FIRST names only files that exist', () => {
    expect(LONG_FIRST.filter((path) => !existsSync(join(root, path)))).to.deep.equal([]);
  });

  it('starts with the long files and keeps every file once', () => {
    const [first, second] = LONG_FIRST as readonly [string, string];
    expect(inOrder(['b.test.ts', second, 'a.test.ts', first])).to.deep.equal([first, second, 'a.test.ts', 'b.test.ts']);
  });
});
