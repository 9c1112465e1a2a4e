import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../support/plugin-folders.ts';
import { LONGEST_TEST_FILES, sortTestFiles } from '../support/test-file-order.ts';

describe('the order of test files in a run', () => {
  it('LONGEST_TEST_FILES names only files that exist', () => {
    expect(LONGEST_TEST_FILES.filter((path) => !existsSync(join(projectRoot, path)))).to.deep.equal([]);
  });

  it('starts with the long files and keeps every file once', () => {
    const [first, second] = LONGEST_TEST_FILES as readonly [string, string];
    expect(sortTestFiles(['b.test.ts', second, 'a.test.ts', first])).to.deep.equal([
      first,
      second,
      'a.test.ts',
      'b.test.ts',
    ]);
  });
});
