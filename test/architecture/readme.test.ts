import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { readmeWithSettings } from '../../scripts/settings-table.ts';

describe('architecture: README', () => {
  it('the settings table equals the manifests (scripts/node scripts/settings-table.ts)', async () => {
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
    expect(readme).to.contain('<!-- settings -->\n').and.to.contain('<!-- /settings -->');
    expect(readme).to.equal(readmeWithSettings(readme));
  });

  it('ARCHITECTURE.md has at most three pages', async () => {
    const text = await readFile(new URL('../../ARCHITECTURE.md', import.meta.url), 'utf8');
    expect(text.split('\n').length).to.be.at.most(180);
  });
});
