import { expect } from 'chai';
import { readTypeScriptFiles } from '../support/sources.ts';

/**
 * Tests use HTTP and contracts, so that internals may change without them. Each import here is of something that neither
 * reaches. The number may fall; a test that raises it belongs to a contract first.
 */
const MAX_INTERNAL_IMPORTS = 234;

/** What plugins, the kernel and the sandbox export to other folders. */
const PUBLIC = /\/(contract|library)\.ts$|^plugins\/core-plugins\.ts$|^kernel\/(index|boot)\.ts$/;

const isInternal = (path: string): boolean => /^(plugins|kernel|sandbox)\//.test(path) && !PUBLIC.test(path);

describe('imports of tests', () => {
  it(`no more than ${MAX_INTERNAL_IMPORTS} imports name an internal file of a plugin, the kernel or the sandbox`, () => {
    const internal = readTypeScriptFiles('test').flatMap(({ path, imports }) =>
      imports.flatMap(({ target }) => (target !== null && isInternal(target) ? [`${path}: ${target}`] : [])),
    );
    expect(internal.length, internal.join('\n')).to.be.at.most(MAX_INTERNAL_IMPORTS);
  });
});
