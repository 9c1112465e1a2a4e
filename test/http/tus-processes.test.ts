import { expect } from 'chai';
import {
  createTusStorageFolder,
  createTusUpload,
  readReceivedByteCount,
  readStoredFile,
  sendTusRequest,
  someBytes,
  startTusUpload,
  TUS_PIECE_SIZE,
  type TusStorageFolder,
  uploadIdOfUrl,
} from '../plugins/tus/tus-client.ts';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type SpawnedService, spawnService } from '../support/service.ts';
import { sha256 } from '../support/sha256.ts';
import { until } from '../support/until.ts';

describe('tus: several processes', () => {
  let database: FreshDatabase;
  let here: TusStorageFolder;
  let one: SpawnedService;
  let two: SpawnedService;
  before(async function () {
    this.timeout(120_000);
    here = await createTusStorageFolder({ SECRET: 'a secret that only these two processes know' });
    database = await createMigratedDatabase('tus');
    [one, two] = await Promise.all([
      spawnService({ database, env: here.env }),
      spawnService({ database, env: here.env }),
    ]);
  });
  after(async () => {
    await Promise.all([one?.stop(), two?.stop()]);
    await database?.drop();
    await here?.remove();
  });

  const pieces = async () => (await here.objects()).filter((name) => name.includes('.part-'));
  const patch = (service: SpawnedService, path: string, offset: number, body: Uint8Array) =>
    sendTusRequest(service, 'PATCH', path, {
      token: one.admin.token,
      body,
      headers: { 'Upload-Offset': String(offset) },
    }).reply;

  it('an upload created in one process continues in others', async () => {
    const bytes = someBytes(5 * TUS_PIECE_SIZE + 1);
    const path = await createTusUpload(one, bytes.length, { token: one.admin.token });
    const parts = [0, TUS_PIECE_SIZE + 5, 2 * TUS_PIECE_SIZE, 4 * TUS_PIECE_SIZE, bytes.length];
    for (const [at, end] of parts.slice(1).entries()) {
      const start = parts[at] as number;
      const reply = await patch(at % 2 ? one : two, path, start, bytes.subarray(start, end));
      expect([reply.status, reply.headers['upload-offset']]).to.deep.equal([204, String(end)]);
    }
    expect(sha256((await readStoredFile(one, here, uploadIdOfUrl(path)))?.bytes as Buffer)).to.equal(sha256(bytes));
    expect(await pieces()).to.deep.equal([]);
  });

  it('a second process gets 423, and the writing request gives way', async () => {
    const bytes = someBytes(4 * TUS_PIECE_SIZE);
    const path = await createTusUpload(one, bytes.length, { token: one.admin.token });
    const { request, reply } = sendTusRequest(one, 'PATCH', path, {
      token: one.admin.token,
      body: 'open',
      headers: { 'Upload-Offset': '0', 'Content-Length': String(bytes.length) },
    });
    request.write(bytes.subarray(0, TUS_PIECE_SIZE + 100));
    await until(async () => (await readReceivedByteCount(one, path)) === TUS_PIECE_SIZE);
    const refused = await patch(two, path, TUS_PIECE_SIZE, someBytes(100));
    expect([refused.status, refused.body.errors[0].extensions.code]).to.deep.equal([423, 'UPLOAD_LOCKED']);
    const first = await reply;
    expect([first.status, first.headers['upload-offset']]).to.deep.equal([204, String(TUS_PIECE_SIZE + 100)]);
    expect((await patch(two, path, TUS_PIECE_SIZE + 100, bytes.subarray(TUS_PIECE_SIZE + 100))).status).to.equal(204);
    expect(sha256((await readStoredFile(one, here, uploadIdOfUrl(path)))?.bytes as Buffer)).to.equal(sha256(bytes));
  });

  it('of many requests with the same offset one writes', async () => {
    const size = TUS_PIECE_SIZE + 11;
    for (let round = 0; round < 5; round++) {
      const path = await createTusUpload(one, size, { token: one.admin.token });
      const bodies = Array.from({ length: 6 }, () => someBytes(size));
      let statuses: number[];
      // Each request asks the one that writes to give way. If all get 423 before one has written, the test sends them again.
      do {
        const replies = await Promise.all(bodies.map((body, at) => patch(at % 2 ? one : two, path, 0, body)));
        statuses = replies.map(({ status }) => status);
        expect(statuses.filter((status) => ![204, 409, 413, 423].includes(status))).to.deep.equal([]);
      } while (statuses.every((status) => status === 423));
      expect(
        statuses.filter((status) => status === 204),
        String(statuses),
      ).to.have.length(1);
      const kept = sha256((await readStoredFile(one, here, uploadIdOfUrl(path)))?.bytes as Buffer);
      expect(kept).to.equal(sha256(bodies[statuses.indexOf(204)] as Buffer));
    }
    expect(await pieces()).to.deep.equal([]);
  });

  it('a killed process loses one piece at most, and another one continues', async () => {
    const victim = await spawnService({ database, env: here.env });
    try {
      const bytes = someBytes(8 * TUS_PIECE_SIZE + 77);
      const path = await createTusUpload(victim, bytes.length, { token: one.admin.token });
      const { request, reply } = sendTusRequest(victim, 'PATCH', path, {
        token: one.admin.token,
        body: 'open',
        headers: { 'Upload-Offset': '0', 'Content-Length': String(bytes.length) },
      });
      request.write(bytes.subarray(0, 3 * TUS_PIECE_SIZE + 500));
      await until(async () => (await readReceivedByteCount(one, path)) === 3 * TUS_PIECE_SIZE);
      // Waits until the process is writing the fourth piece.
      await until(async () => (await pieces()).filter((name) => name.startsWith(uploadIdOfUrl(path))).length === 4);
      await victim.kill('SIGKILL');
      await reply.catch(() => {});

      const { sent } = await startTusUpload(two, bytes, {
        token: one.admin.token,
        uploadUrl: two.url + path,
        retryDelays: [100, 500, 1000],
      }).finished;
      expect(sent.at(-1)).to.equal(`PATCH ${3 * TUS_PIECE_SIZE}`);
      expect(sha256((await readStoredFile(one, here, uploadIdOfUrl(path)))?.bytes as Buffer)).to.equal(sha256(bytes));
      expect(await pieces()).to.deep.equal([]);
    } finally {
      await victim.stop();
    }
  });
});
