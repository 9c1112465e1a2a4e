import { readFile } from 'node:fs/promises';
import { expect } from 'chai';

const MOST_LINES = { 'README.md': 120, 'ARCHITECTURE.md': 200 } as const;

describe('README.md and ARCHITECTURE.md', () => {
  for (const [name, lines] of Object.entries(MOST_LINES)) {
    it(`${name} has at most ${lines} lines`, async () => {
      const text = await readFile(new URL(`../../${name}`, import.meta.url), 'utf8');
      expect(text.split('\n').length - 1).to.be.at.most(lines);
    });
  }
});
