import { expect } from 'chai';
import { packageNameOf, readTypeScriptFiles } from '../support/sources.ts';

const MAX_LINES = 2500;
const PACKAGES = ['koa', 'ajv', 'semver', 'pino'];

describe('architecture: kernel', () => {
  const sources = readTypeScriptFiles('kernel');

  it('the kernel imports only its own files, four packages, Node modules and the version in package.json', () => {
    const strange = sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier, target }) =>
          target
            ? !target.startsWith('kernel/') && target !== 'package.json'
            : !specifier.startsWith('node:') && !PACKAGES.includes(packageNameOf(specifier)),
        )
        .map(({ specifier }) => `${path} imports ${specifier}`),
    );
    expect(strange).to.deep.equal([]);
  });

  it('the kernel has one import with a computed path, in lifecycle/plugin-loader.ts', () => {
    expect(sources.filter((one) => one.computedImports > 0).map((one) => one.path)).to.deep.equal([
      'kernel/lifecycle/plugin-loader.ts',
    ]);
  });

  it(`the kernel has at most ${MAX_LINES} lines`, () => {
    expect(sources.reduce((sum, one) => sum + one.lines, 0)).to.be.at.most(MAX_LINES);
  });

  it('the kernel has no SQL, no table and no route', () => {
    const words = /\bselect\s+\S+\s+from\b|\binsert\s+into\b|platform_|['"`]\/(?:items|auth|users|server)\b/i;
    expect(sources.filter((one) => words.test(one.text)).map((one) => one.path)).to.deep.equal([]);
  });
});
