import { expect } from 'chai';
import { takeApart } from '../support/sources.ts';

const importsOf = (text: string) => takeApart('plugins/a/read/b.ts', text).imports;

/** The other tests of this folder are worth what this one says. */
describe('architecture: the scan', () => {
  it('finds every form of import', () => {
    const found = importsOf(`
      import a, { type B } from 'a';
      import type { C } from "c";
      import { type D, type E as F } from './d.ts';
      import {
        g,
        h,
      } from '../../g/contract.ts';
      import * as i from 'node:i';
      import 'j';
      export { k } from 'k';
      export type { L } from 'l';
      export * from 'm';
      const n = await import('n');
      const o = require("o");
      import manifest from './package.json' with { type: 'json' };
    `);
    expect(found.map(({ specifier, typeOnly }) => `${specifier}${typeOnly ? ' (type)' : ''}`)).to.deep.equal([
      'a',
      'c (type)',
      './d.ts (type)',
      '../../g/contract.ts',
      'node:i',
      'j',
      'k',
      'l (type)',
      'm',
      'n',
      'o',
      './package.json',
    ]);
  });

  it('resolves relative ones from the root of the repository', () => {
    expect(importsOf(`import x from '../../g/contract.ts'`)[0]?.target).to.equal('plugins/g/contract.ts');
    expect(importsOf(`import x from '../c.ts'`)[0]?.target).to.equal('plugins/a/c.ts');
    expect(importsOf(`import x from 'c'`)[0]?.target).to.equal(null);
  });

  it('does not take comments and strings for code', () => {
    const { imports, text } = takeApart(
      'a.ts',
      `// import 'x'\n/* process.env */ const url = 'http://a'; // import 'y'`,
    );
    expect(imports).to.deep.equal([]);
    expect(text.trim()).to.equal(`const url = 'http://a';`);
  });

  it('sees imports whose path is computed', () => {
    expect(takeApart('a.ts', `await import(path); require(\`x\`); import('y')`).computedImports).to.equal(2);
  });
});
