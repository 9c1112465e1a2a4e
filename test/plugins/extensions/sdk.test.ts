import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { CONFINED_NAMES } from '../../../plugins/extensions-confined/gate/modules.ts';
import { sketchFolder } from './sketch.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const run = promisify(execFile);

/** What the compiler complains of; empty when nothing is wrong. */
async function complaints(files: readonly string[]): Promise<string> {
  const place = await sketchFolder({
    'tsconfig.json': {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        allowJs: true,
        checkJs: true,
        // Examples are JavaScript: what no type is given to may be anything.
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

describe('extensions: the authors’ kit', function () {
  this.timeout(120_000);

  it('knows what authors write, and what cannot work', async () => {
    expect(await complaints(['test/plugins/extensions/sdk-typed.ts'])).to.equal('');
  });

  it('fits the examples', async () => {
    expect(await complaints(['extensions/examples/*/src/*.js'])).to.equal('');
  });

  it('answers what it is given, and has the names that confined code may import', async () => {
    const kit = (await import('../../../extensions/sdk/index.ts')) as Readonly<
      Record<string, (config: unknown) => unknown>
    >;
    expect(Object.keys(kit)).to.include.members([...CONFINED_NAMES]);
    const config = {};
    for (const [name, define] of Object.entries(kit)) expect(define(config), name).to.equal(config);
  });
});
