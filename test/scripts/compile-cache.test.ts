import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const script = fileURLToPath(new URL('../../scripts/node', import.meta.url));

/** Runs `scripts/node` with this NODE_COMPILE_CACHE: the folder that Node uses, empty for none, and the warning on stderr. */
async function cacheOf(folder: string): Promise<{ readonly used: string; readonly printed: string }> {
  const { stdout, stderr } = await promisify(execFile)(script, ['-p', 'process.env.NODE_COMPILE_CACHE'], {
    env: { ...process.env, NODE_COMPILE_CACHE: folder },
  });
  return { used: stdout.trim(), printed: stderr.trim() };
}

describe('scripts/node', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-cache-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('uses the compile cache in a folder that no other user may write to', async () => {
    expect(await cacheOf(folder)).to.deep.equal({ used: folder, printed: '' });
    const missing = join(folder, 'missing');
    expect(await cacheOf(missing)).to.deep.equal({ used: missing, printed: '' });
  });

  it('uses no compile cache in a folder, or with a subfolder, that all users may write to', async () => {
    const inner = join(folder, 'v24');
    await mkdir(inner);
    for (const open of [inner, folder]) {
      await chmod(open, 0o777);
      const { used, printed } = await cacheOf(folder);
      expect(used).to.equal('');
      expect(printed).to.equal(`The compile cache ${folder} is not used: others may write to it.`);
      await chmod(open, 0o755);
    }
  });
});
