import { link, mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { PackageFile } from '../../../../plugins/extensions/contract.ts';
import { LoadFailure, openPackageFileReader } from '../../../../plugins/extensions/library.ts';

describe('readCompleteFile for files that change while they are read', () => {
  let root: string;
  let folder: string;
  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'tenon-files-')));
    folder = join(root, 'package');
    await mkdir(join(folder, 'lib'), { recursive: true });
    await mkdir(join(root, 'outside'));
    await writeFile(join(folder, 'lib/data.json'), '{"inside":1}');
    await writeFile(join(root, 'outside/data.json'), '{"secret":1}');
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const found = async () => {
    const files = await openPackageFileReader(folder);
    const file = (await files.find('lib/data.json')) as PackageFile;
    return { read: () => files.read(file, 1000, 'SOURCE_READ_FAILED') };
  };
  const refused = async (read: () => Promise<unknown>) => {
    const outcome = await read().catch((error: unknown) => error);
    expect(outcome).to.be.instanceOf(LoadFailure);
    expect((outcome as LoadFailure).code).to.equal('LOCAL_PATH_ESCAPES_ROOT');
  };

  it('a file that was replaced by a link is not read', async () => {
    const { read } = await found();
    await rm(join(folder, 'lib/data.json'));
    await symlink(join(root, 'outside/data.json'), join(folder, 'lib/data.json'));
    await refused(read);
  });

  it('a file below a folder that was replaced by a link is not read', async () => {
    const { read } = await found();
    await rename(join(folder, 'lib'), join(folder, 'before'));
    await symlink(join(root, 'outside'), join(folder, 'lib'));
    await refused(read);
  });

  it('a file of a package that was moved is not read', async () => {
    const { read } = await found();
    await rename(folder, join(root, 'before'));
    await symlink(root, folder);
    await mkdir(join(root, 'lib'));
    await link(join(root, 'outside/data.json'), join(root, 'lib/data.json'));
    await refused(read);
  });

  it('an unchanged file is read completely', async () => {
    const { read } = await found();
    expect(String(await read())).to.equal('{"inside":1}');
  });
});
