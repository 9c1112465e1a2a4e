import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTemporaryFilePath, createTemporaryFolder } from '../../../plugins/storage/library.ts';
import { removeAbandonedTemporaryFiles } from '../../../plugins/storage/temporary-files.ts';

describe('temporary files and folders of storage', () => {
  const { TMPDIR } = process.env;
  let place: string;
  beforeEach(async () => {
    place = await mkdtemp(join(tmpdir(), 'tenon-test-'));
    process.env.TMPDIR = place;
  });
  afterEach(async () => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    await rm(place, { recursive: true, force: true });
  });

  it('removeAbandonedTemporaryFiles deletes our own entries older than a day and nothing else', async () => {
    const old = await createTemporaryFolder('asset');
    const young = await createTemporaryFolder('object');
    const others = ['tenon-asset-of-somebody', 'tenon-backup-abcdef', 'else'].map((name) => join(place, name));
    for (const path of others) await mkdir(path);
    await writeFile(join(old, 'large.png'), 'bytes');
    const [oldFile, youngFile] = [createTemporaryFilePath('asset'), createTemporaryFilePath('part')];
    for (const path of [oldFile, youngFile]) await writeFile(path, 'bytes');
    await writeFile(join(place, 'tenon-part-abcdef'), 'a file');
    const longAgo = new Date(Date.now() - 25 * 60 * 60 * 1000);
    for (const path of [old, oldFile, ...others, join(place, 'tenon-part-abcdef')])
      await utimes(path, longAgo, longAgo);
    await removeAbandonedTemporaryFiles();
    const left = [young, youngFile, ...others, join(place, 'tenon-part-abcdef')];
    expect((await readdir(place)).map((name) => join(place, name)).sort()).to.deep.equal(left.sort());
  });
});
