import { expect } from 'chai';
import { findRefusedWords } from '../../scripts/plain-words/scan.ts';

const found = (path: string, text: string): readonly string[] => findRefusedWords(path, text).map(({ word }) => word);

describe('npm run words', () => {
  it('finds refused parts of names, and leaves words that only contain them', () => {
    expect(found('plugins/a.ts', 'const askedRange = toldBefore;')).to.deep.equal(['asked', 'told']);
    expect(found('plugins/a.ts', 'const masked = tolding;')).to.deep.equal([]);
  });

  it('finds refused phrases in comments, strings and documents', () => {
    expect(found('plugins/a.ts', '/** Whoever calls it. */')).to.deep.equal(['whoever']);
    expect(found('plugins/a.ts', "it('is told of nobody', () => {});")).to.include.members(['told', 'nobody']);
    expect(found('docs/a.md', 'What becomes of packages of others.')).to.include.members([
      'becomes of',
      'packages of others',
    ]);
  });

  it('finds a refused file name, and whole names where they are declared', () => {
    expect(found('plugins/patience.ts', '')).to.deep.equal(['patience']);
    expect(found('plugins/a.ts', 'const within = 1; expect(1).within(0, 2);')).to.deep.equal(['within']);
  });

  it('counts lines from one', () => {
    expect(findRefusedWords('plugins/a.ts', '\n\n// whoever')[0]?.line).to.equal(3);
  });
});
