import { readdir, readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { renderReferencePages } from '../../scripts/reference/pages.ts';

const FOLDER = new URL('../../docs/reference/', import.meta.url);

describe('docs/reference', () => {
  it('every page says what the plugins declare (write them anew with npm run reference)', async () => {
    const pages = await renderReferencePages();
    expect((await readdir(FOLDER)).sort()).to.deep.equal([...pages.keys()].sort());
    for (const [name, text] of pages) {
      expect(await readFile(new URL(name, FOLDER), 'utf8'), `docs/reference/${name}`).to.equal(text);
    }
  });
});
