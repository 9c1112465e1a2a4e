import { randomUUID } from 'node:crypto';
import { rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { runCommand } from '../../support/run-command.ts';
import { FIRST_ADMIN_CREDENTIALS } from '../../support/service.ts';
import { byteChunks, type FilesFixture, startFilesFixture } from './files-fixture.ts';

describe('command "files check"', () => {
  let ground: FilesFixture;
  before(async () => {
    ground = await startFilesFixture();
  });
  after(() => ground.stop());

  const run = async (...args: readonly string[]) => {
    const { code, output } = await runCommand(['files', ...args], {
      CONFIG_PATH: '/dev/null',
      EXTENSIONS_PATH: '/dev/null',
      LOG_LEVEL: 'error',
      DB_CONNECTION_STRING: ground.database.url,
      SECRET: 'a secret that only tests know, long enough',
      ADMIN_EMAIL: FIRST_ADMIN_CREDENTIALS.email,
      ADMIN_PASSWORD: FIRST_ADMIN_CREDENTIALS.password,
      DATA_PATH: ground.folder,
      STORAGE_LOCATIONS: 'local,second',
      STORAGE_LOCAL_ROOT: ground.folder,
      STORAGE_SECOND_DRIVER: 'local',
      STORAGE_SECOND_ROOT: join(ground.folder, 'other'),
    });
    return { code, lines: output.trimEnd().split('\n') };
  };
  const upload = (storage: string) =>
    ground.files.create(ground.admin.caller, {
      bytes: byteChunks('content'),
      filename: 'a.txt',
      metadata: { storage },
    });
  const age = async (name: string) => {
    const long = new Date(Date.now() - 2 * 3_600_000);
    await utimes(join(ground.folder, name), long, long);
  };

  it('the check finds nothing where rows and objects match', async () => {
    const id = await upload('local');
    await upload('second');
    await ground.storage.at('local').write(`${id}__0f.webp`, byteChunks('made'));
    const { code, lines } = await run('check');
    expect(lines).to.deep.equal([
      'local: 1 objects of files, 1 variants, 0 orphaned (the service removes them), 0 foreign',
      'second: 1 objects of files, 0 variants, 0 orphaned (the service removes them), 0 foreign',
      '0 files are broken; 0 objects (0 bytes) belong to no file, 0 of them removed',
    ]);
    expect(code).to.equal(0);
  });

  it('the check lists every difference, and --repair removes only old objects that belong to no file', async () => {
    const local = ground.storage.at('local');
    const [missing, short, former] = [await upload('local'), await upload('local'), await upload('second')];
    const [stray, young, source] = [randomUUID(), randomUUID(), randomUUID()];
    await rm(join(ground.folder, `${missing}.txt`));
    await truncate(join(ground.folder, `${short}.txt`), 3);
    await ground.database.query(`update platform_files set storage = 'former' where id = $1`, [former]);
    await local.write(`${stray}.txt`, byteChunks('12345'));
    await local.write(`${young}.txt`, byteChunks('12345'));
    await local.write(`${source}__0f.webp`, byteChunks('123'));
    await writeFile(join(ground.folder, 'logo.txt'), 'a foreign file');
    for (const name of [`${stray}.txt`, `.groups/${source}/${source}__0f.webp`, 'logo.txt']) await age(name);

    const found = [
      `local: ${missing}.txt is missing: the bytes of file ${missing} (A)`,
      `local: ${short}.txt has 3 bytes, its row says 7`,
      `local: ${stray}.txt belongs to no file: 5 bytes`,
      `local: ${source}__0f.webp is a variant of an object that is gone: 3 bytes`,
      'former: this location is not configured, and 1 files have their bytes there',
      '3 files are broken; 2 objects (8 bytes) belong to no file, 0 of them removed',
    ];
    const before = await ground.objects();
    const looked = await run('check');
    expect(looked.lines).to.include.members(found);
    expect([looked.code, await ground.objects()]).to.deep.equal([1, before]);

    const repaired = await run('check', '--repair');
    expect(repaired.lines).to.include.members([
      ...found.slice(0, 2),
      `${found[2]}, removed`,
      `${found[3]}, removed`,
      found[4] as string,
      '3 files are broken; 2 objects (8 bytes) belong to no file, 2 of them removed',
    ]);
    expect(repaired.code).to.equal(1);
    const gone = [`${stray}.txt`, `.groups/${source}/${source}__0f.webp`];
    expect(await ground.objects()).to.deep.equal(before.filter((name) => !gone.includes(name)));
    expect((await ground.row(missing)).filename_disk).to.equal(`${missing}.txt`);
  });

  it('wrong arguments print the usage and end with 1', async () => {
    for (const args of [[], ['clean'], ['check', '--force']]) {
      const { code, lines } = await run(...args);
      expect([code, lines]).to.deep.equal([1, ['usage: files check [--repair]']]);
    }
  });
});
