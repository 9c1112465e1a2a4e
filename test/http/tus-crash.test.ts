import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import {
  createTusStorageFolder,
  readStoredFile,
  someBytes,
  startTusUpload,
  TUS_PIECE_SIZE,
  type TusStorageFolder,
} from '../plugins/tus/tus-client.ts';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type SpawnedService, spawnService } from '../support/service.ts';
import { sha256 } from '../support/sha256.ts';
import { until } from '../support/until.ts';

const ROUNDS = 4;

describe('tus: kills of the service', () => {
  let here: TusStorageFolder;
  let database: FreshDatabase;
  let service: SpawnedService | undefined;
  before(async () => {
    here = await createTusStorageFolder({
      SECRET: 'a secret that only these processes know',
      TUS_CLEANUP_SCHEDULE: '* * * * * *',
    });
    database = await createMigratedDatabase('tus');
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
    await here?.remove();
  });

  it('uploads continue after kills at any moment, and only the files are left in the end', async function () {
    this.timeout(120_000);
    let running = await spawnService({ database, env: here.env });
    service = running;
    const { token } = running.admin;
    for (let round = 0; round < ROUNDS; round++) {
      const bytes = someBytes(40 * TUS_PIECE_SIZE + round);
      const broken = startTusUpload(running, bytes, { token });
      broken.finished.catch(() => {});
      await until(() => broken.client.url !== null);
      const delay = Math.random() * 500;
      await pause(delay);
      await running.kill('SIGKILL');
      await broken.client.abort();
      // `stop` also deletes the data folder of the killed process.
      await running.stop();

      running = await spawnService({ database, env: here.env });
      service = running;
      const uploadUrl = running.url + new URL(broken.client.url as string).pathname;
      const { id } = await startTusUpload(running, bytes, { token, uploadUrl, retryDelays: [100, 500, 1000] }).finished;
      const kept = (await readStoredFile(running, here, id))?.bytes;
      expect(sha256(kept as Buffer), `killed after ${delay} ms`).to.equal(sha256(bytes));
    }
    await database.query(`update platform_uploads set expires = now() - interval '1 second'`);
    await until(async () => (await database.query('select from platform_uploads')).length === 0);
    expect(await database.query('select from platform_upload_pieces')).to.deep.equal([]);
    const files = await database.query<{ filename_disk: string }>('select filename_disk from platform_files');
    await until(async () => (await database.query('select from platform_orphaned_objects')).length === 0);
    expect([...(await here.objects())].sort()).to.deep.equal(files.map((file) => file.filename_disk).sort());
    expect(files).to.have.length(ROUNDS);
  });
});
