import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { open, truncate } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, spawnService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type AssetStorageFixture, createAssetStorageFixture } from './asset-storage-fixture.ts';

const MEGABYTE = 1024 * 1024;

describe('bytes of assets', () => {
  let ground: AssetStorageFixture;
  let database: FreshDatabase;
  let service: InProcessService;

  before(async function () {
    this.timeout(120_000);
    ground = await createAssetStorageFixture();
    database = await createMigratedDatabase('assets_serving');
    service = await startService({ database, env: { ...ground.env, LOG_LEVEL: 'info' } });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
    await ground?.remove();
  });

  async function opened(id: string, headers: Record<string, string> = {}, url = service.url): Promise<IncomingMessage> {
    const request = get(`${url}/assets/${id}`, {
      agent: false,
      headers: { authorization: `Bearer ${service.admin.token}`, ...headers },
    });
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    return answer;
  }

  async function hashOf(answer: IncomingMessage): Promise<string> {
    const hash = createHash('sha256');
    for await (const part of answer) hash.update(part as Buffer);
    return hash.digest('hex');
  }

  it('the answer has exactly the stored bytes, for assets of every size', async () => {
    for (const size of [0, 1, 65_535, 65_537, 256 * 1024, 256 * 1024 + 1, 5 * MEGABYTE + 3]) {
      const bytes = randomBytes(size);
      const id = await ground.file(database, bytes);
      const expected = createHash('sha256').update(bytes).digest('hex');
      // The first request is answered from storage, the later ones from memory where the file is small.
      for (let time = 0; time < 4; time++) {
        const answer = await opened(id);
        expect([answer.statusCode, answer.headers['content-length']]).to.deep.equal([200, String(size)]);
        expect(await hashOf(answer), String(size)).to.equal(expected);
      }
    }
  });

  it('the ranges of an asset joined together are the whole asset', async () => {
    const bytes = randomBytes(3 * MEGABYTE + 77);
    const id = await ground.file(database, bytes);
    const hash = createHash('sha256');
    for (let start = 0; start < bytes.length; start += 500_000) {
      const answer = await opened(id, { range: `bytes=${start}-${start + 499_999}` });
      expect(answer.statusCode).to.equal(206);
      for await (const part of answer) hash.update(part as Buffer);
    }
    expect(hash.digest('hex')).to.equal(createHash('sha256').update(bytes).digest('hex'));
  });

  it('the length comes from the object, not from the row', async () => {
    const id = await ground.file(database, '0123456789', { filesize: 5 });
    const other = await ground.file(database, '0123456789', { filesize: 5000 });
    for (const one of [id, other]) {
      const { headers, body } = await service.request('GET', `/assets/${one}`, { token: service.admin.token });
      expect([headers.get('content-length'), String(body)]).to.deep.equal(['10', '0123456789']);
      const part = await opened(one, { range: 'bytes=7-' });
      expect(part.headers['content-range']).to.equal('bytes 7-9/10');
      part.resume();
    }
  });

  it('the service closes the file in storage however the client disconnects', async function () {
    if (!existsSync('/proc/self/fd')) this.skip();
    const id = await ground.file(database, randomBytes(30 * MEGABYTE));
    const open = () =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).startsWith(ground.root);
        } catch {
          return false;
        }
      });
    const clients = await Promise.all(Array.from({ length: 20 }, () => opened(id)));
    expect(open()).to.have.length(20);
    for (const client of clients) client.destroy();
    // Clients that disconnect before the answer, and HEAD requests.
    for (let time = 0; time < 20; time++) {
      const request = get(`${service.url}/assets/${id}`, {
        agent: false,
        headers: { authorization: `Bearer ${service.admin.token}` },
      });
      request.on('error', () => {});
      request.once('socket', (socket) => socket.once('connect', () => setTimeout(() => request.destroy(), time % 5)));
      const head = await service.request('HEAD', `/assets/${id}`, { token: service.admin.token });
      expect(head.status).to.equal(200);
      const part = await opened(id, { range: 'bytes=5-' });
      part.destroy();
    }
    await until(() => open().length === 0);
  });

  it('the response breaks off if the object gets shorter', async () => {
    const id = await ground.file(database, randomBytes(40 * MEGABYTE));
    const answer = await opened(id);
    await truncate(join(ground.root, `${id}.bin`), 10 * MEGABYTE);
    const failed = await hashOf(answer).then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error.code,
    );
    expect(failed).to.equal('ECONNRESET');
  });

  it('many concurrent downloads need little memory', async function () {
    if (!existsSync('/proc/self/status')) this.skip();
    this.timeout(120_000);
    const size = 256 * MEGABYTE;
    const id = await ground.file(database, '');
    const file = await open(join(ground.root, `${id}.bin`), 'r+');
    await file.truncate(size);
    await file.close();
    const spawned = await spawnService({ database, env: ground.env });
    try {
      const resident = () =>
        Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${spawned.pid}/status`, 'utf8'))?.[1]) * 1024;
      const before = resident();
      let peak = 0;
      let bytes = 0;
      const answer = await opened(id, {}, spawned.url);
      for await (const part of answer) {
        const step = Math.floor(bytes / (16 * MEGABYTE));
        bytes += (part as Buffer).length;
        if (Math.floor(bytes / (16 * MEGABYTE)) > step) peak = Math.max(peak, resident());
      }
      expect(bytes).to.equal(size);
      // The limit includes about 64 MB of unused buffers that V8 frees late.
      expect((peak - before) / MEGABYTE).to.be.below(128);
    } finally {
      await spawned.stop();
    }
  });
});
