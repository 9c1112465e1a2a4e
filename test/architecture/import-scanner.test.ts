import { expect } from 'chai';
import { findImportCycle, isPureCodeFile, parseCodeFile } from '../support/sources.ts';

const importsOf = (text: string) => parseCodeFile('plugins/a/read/b.ts', text).imports;

/** The architecture tests rely on this scanner to find all imports. */
describe('architecture: the import scanner', () => {
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

  it('resolves relative imports from the root of the repository', () => {
    expect(importsOf(`import x from '../../g/contract.ts'`)[0]?.target).to.equal('plugins/g/contract.ts');
    expect(importsOf(`import x from '../c.ts'`)[0]?.target).to.equal('plugins/a/c.ts');
    expect(importsOf(`import x from 'c'`)[0]?.target).to.equal(null);
  });

  it('ignores imports in comments and strings', () => {
    const { imports, text } = parseCodeFile(
      'a.ts',
      `// import 'x'\n/* process.env */ const url = 'http://a'; // import 'y'`,
    );
    expect(imports).to.deep.equal([]);
    expect(text.trim()).to.equal(`const url = 'http://a';`);
  });

  it('finds imports with a computed path', () => {
    expect(parseCodeFile('a.ts', `await import(path); require(\`x\`); import('y')`).computedImports).to.equal(2);
  });

  describe('isPureCodeFile()', () => {
    const purityOf = (files: Readonly<Record<string, string>>) =>
      isPureCodeFile(
        'plugins/a/library.ts',
        Object.entries(files).map(([name, text]) => parseCodeFile(`plugins/a/${name}`, text)),
      );

    it('accepts a library that imports types and pure files only', () => {
      const files = {
        'library.ts': `export { b } from './b.ts';`,
        'b.ts': `import type { Server } from 'node:http'; import type { A } from './contract.ts'; import { c } from './c.ts';`,
        'c.ts': `import { b } from './b.ts'; export const c = 1;`,
      };
      expect(purityOf(files)).to.equal(true);
    });

    for (const [what, text] of [
      ['a module of Node', `import { readFile } from 'node:fs/promises';`],
      ['a package', `import { LRUCache } from 'lru-cache';`],
      ['a file that is not there', `import { d } from '../b/library.ts';`],
      ['a path that is known only when it runs', `const b = await import(name);`],
    ] as const) {
      it(`rejects a library that imports ${what}, directly or indirectly`, () => {
        expect(purityOf({ 'library.ts': text })).to.equal(false);
        expect(purityOf({ 'library.ts': `export { b } from './b.ts';`, 'b.ts': text })).to.equal(false);
      });
    }
  });

  describe('findImportCycle()', () => {
    const cycleOf = (files: Readonly<Record<string, string>>) =>
      findImportCycle(Object.entries(files).map(([path, text]) => parseCodeFile(path, text)));

    it('returns the files of a cycle in their order', () => {
      const files = {
        'plugins/a/index.ts': `import { b } from './b.ts';`,
        'plugins/a/b.ts': `import { c } from '../c/c.ts';`,
        'plugins/c/c.ts': `export { b } from '../a/b.ts';`,
      };
      expect(cycleOf(files)).to.equal('plugins/a/b.ts → plugins/c/c.ts → plugins/a/b.ts');
    });

    it('finds a file that imports itself', () => {
      expect(cycleOf({ 'a.ts': `import * as own from './a.ts';` })).to.equal('a.ts → a.ts');
    });

    it('follows #kernel', () => {
      const files = {
        'kernel/index.ts': `export { a } from './a.ts';`,
        'kernel/a.ts': `import { b } from '#kernel';`,
      };
      expect(cycleOf(files)).to.equal('kernel/index.ts → kernel/a.ts → kernel/index.ts');
    });

    it('ignores imports of types, and files that two other files import', () => {
      const files = {
        'a.ts': `import { b } from './b.ts'; import { c } from './c.ts';`,
        'b.ts': `import type { A } from './a.ts'; import { c } from './c.ts';`,
        'c.ts': `import { type A, type B } from './a.ts';`,
      };
      expect(cycleOf(files)).to.equal(undefined);
    });
  });
});
