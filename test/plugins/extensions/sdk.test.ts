import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { CONFINED_SDK_EXPORTS } from '../../../plugins/extensions-confined/gate/refused-imports.ts';
import { createPackageFolder } from './package-folder.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const run = promisify(execFile);

/** The type errors of these files; empty without errors. */
async function typeErrors(files: readonly string[]): Promise<string> {
  const place = await createPackageFolder({
    'tsconfig.json': {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        allowJs: true,
        checkJs: true,
        // Examples are JavaScript, where a value without a type is `any`.
        noImplicitAny: false,
        paths: { '@tenon/extension-sdk': [join(root, 'extensions/sdk/index.ts')] },
        typeRoots: [join(root, 'node_modules/@types')],
      },
      include: files.map((file) => join(root, file)),
    },
  });
  try {
    return (await run(join(root, 'node_modules/.bin/tsc'), ['--project', place.path])).stdout;
  } catch (error) {
    return (error as { stdout: string }).stdout || String(error);
  } finally {
    await place.remove();
  }
}

describe('the types of the extension SDK', function () {
  this.timeout(120_000);

  it('tsc accepts valid extensions and rejects invalid ones', async () => {
    expect(await typeErrors(['test/plugins/extensions/sdk-type-checks.ts'])).to.equal('');
  });

  it('tsc accepts the examples', async () => {
    expect(await typeErrors(['extensions/examples/*/src/*.js'])).to.equal('');
  });

  it('each SDK function answers its argument, and the SDK exports the names for confined code', async () => {
    const kit = (await import('../../../extensions/sdk/index.ts')) as Readonly<
      Record<string, (config: unknown) => unknown>
    >;
    expect(Object.keys(kit)).to.include.members([...CONFINED_SDK_EXPORTS]);
    const config = {};
    for (const [name, define] of Object.entries(kit)) expect(define(config), name).to.equal(config);
  });
});
