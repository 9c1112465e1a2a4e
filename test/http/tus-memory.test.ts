import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { createTusStorageFolder, startTusUpload, type TusStorageFolder } from '../plugins/tus/tus-client.ts';
import { type SpawnedService, spawnService } from '../support/service.ts';

const MB = 1024 * 1024;
const SIZE = 200;
/** By how much the memory of the process may grow, in MB: by less than the size of the file. */
const MORE = 150;

describe(`tus: a file of ${SIZE} MB`, () => {
  let here: TusStorageFolder;
  let service: SpawnedService;
  before(async function () {
    this.timeout(120_000);
    here = await createTusStorageFolder({ TUS_CHUNK_SIZE: '8mb' });
    service = await spawnService({ env: here.env });
  });
  after(async () => {
    await service?.stop();
    await here?.remove();
  });

  it('a resumable upload needs flat memory', async function () {
    if (process.platform !== 'linux') this.skip();
    const { path, hash } = await largeFile();
    const { token } = service.admin;
    await startTusUpload(service, Buffer.alloc(1000), { token }).finished;
    const before = await memoryOf(service.pid);
    const watched = new AbortController();
    const most = highest(service.pid, watched.signal);
    const { id } = await startTusUpload(service, createReadStream(path), { token }).finished;
    watched.abort();
    expect((await most) - before, 'MB').to.be.below(MORE);
    const [row] = await service.database.query<{ filename_disk: string; filesize: string }>(
      'select filename_disk, filesize from platform_files where id = $1',
      [id],
    );
    expect(row?.filesize).to.equal(String(SIZE * MB));
    expect(await hashOfFile(join(here.root, row?.filename_disk as string))).to.equal(hash);
  });

  async function largeFile(): Promise<{ path: string; hash: string }> {
    const path = join(here.root, 'large-source');
    const block = randomBytes(MB);
    await pipeline(async function* () {
      for (let at = 0; at < SIZE; at++) {
        block.writeUInt32LE(at);
        yield Buffer.from(block);
      }
    }, createWriteStream(path));
    return { path, hash: await hashOfFile(path) };
  }
});

async function hashOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

async function memoryOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

async function highest(pid: number, signal: AbortSignal): Promise<number> {
  let most = 0;
  while (!signal.aborted) {
    most = Math.max(most, await memoryOf(pid));
    await pause(20);
  }
  return most;
}
