import { writeFile } from 'node:fs/promises';
import { Agent, request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import * as tus from 'tus-js-client';
import {
  createStallingHttpStack,
  createTusStorageFolder,
  createTusUpload,
  readReceivedByteCount,
  readStoredFile,
  renderUploadMetadata,
  sendTusRequest,
  someBytes,
  startTusUpload,
  TUS_PIECE_SIZE,
  type TusStorageFolder,
  uploadIdOfUrl,
} from '../plugins/tus/tus-client.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { sha256 } from '../support/sha256.ts';
import { until } from '../support/until.ts';
import { requestAsAdmin } from './test-users.ts';

const LIMIT = 2 * 1024 * 1024;

describe('/files/tus', () => {
  let here: TusStorageFolder;
  let service: InProcessService;
  let token: string;
  before(async function () {
    this.timeout(120_000);
    here = await createTusStorageFolder({ FILES_MAX_UPLOAD_SIZE: String(LIMIT) });
    service = await startService({ env: here.env });
    token = service.admin.token;
  });
  after(async () => {
    await service?.stop();
    await here?.remove();
  });

  const pieces = async () => (await here.objects()).filter((name) => name.includes('.part-'));
  const ask = async (method: string, path: string, options: Parameters<typeof sendTusRequest>[3] = {}) =>
    sendTusRequest(service, method, path, { token, ...options }).reply;
  const patch = (path: string, offset: number, body: Uint8Array) =>
    ask('PATCH', path, { body, headers: { 'Upload-Offset': String(offset) } });

  describe('uploads without interruption', () => {
    for (const size of [0, 1, TUS_PIECE_SIZE - 1, TUS_PIECE_SIZE, TUS_PIECE_SIZE + 1, 5 * TUS_PIECE_SIZE + 17]) {
      it(`an upload of ${size} bytes creates a file and leaves no piece`, async () => {
        const bytes = someBytes(size);
        const { id } = await startTusUpload(service, bytes, { token }).finished;
        const file = await readStoredFile(service, here, id);
        expect(sha256(file?.bytes as Buffer)).to.equal(sha256(bytes));
        expect(file?.row).to.include({ id, filename_download: 'bytes.bin', filesize: String(size), title: 'Bytes' });
        expect(await pieces()).to.deep.equal([]);
      });
    }

    it('a client may choose its own chunk size', async () => {
      const bytes = someBytes(3 * TUS_PIECE_SIZE);
      const { id, sent } = await startTusUpload(service, bytes, { token, chunkSize: 50_000 }).finished;
      expect(sent).to.deep.equal(['POST', 'PATCH 0', 'PATCH 50000', 'PATCH 100000', 'PATCH 150000']);
      expect(sha256((await readStoredFile(service, here, id))?.bytes as Buffer)).to.equal(sha256(bytes));
    });

    it('the creating request may carry the first bytes', async () => {
      const bytes = someBytes(2 * TUS_PIECE_SIZE + 1);
      const { id, sent } = await startTusUpload(service, bytes, { token, uploadDataDuringCreation: true }).finished;
      expect(sent).to.deep.equal(['POST']);
      expect(sha256((await readStoredFile(service, here, id))?.bytes as Buffer)).to.equal(sha256(bytes));
    });

    it('the length may be declared with a later request', async () => {
      const bytes = someBytes(2 * TUS_PIECE_SIZE + 5);
      const { id } = await startTusUpload(service, Readable.from(split(bytes, 10_000), { objectMode: false }), {
        token,
        uploadLengthDeferred: true,
        chunkSize: TUS_PIECE_SIZE,
      }).finished;
      expect(sha256((await readStoredFile(service, here, id))?.bytes as Buffer)).to.equal(sha256(bytes));
    });

    it('a complete upload keeps its offset until it expires, and creates no second file', async () => {
      const bytes = someBytes(10);
      const { url, id } = await startTusUpload(service, bytes, { token }).finished;
      const path = new URL(url).pathname;
      const reply = await ask('HEAD', path);
      expect(reply.status).to.equal(200);
      expect(reply.headers).to.include({ 'upload-offset': '10', 'upload-length': '10', 'cache-control': 'no-store' });
      expect((await patch(path, 10, Buffer.alloc(0))).status).to.equal(204);
      expect((await patch(path, 10, Buffer.alloc(1))).status).to.equal(413);
      const ended = await ask('DELETE', path);
      expect([ended.status, ended.body.errors[0].extensions.code]).to.deep.equal([400, 'INVALID_PAYLOAD']);
      expect((await readStoredFile(service, here, id))?.bytes).to.deep.equal(bytes);
    });
  });

  describe('interrupted uploads', () => {
    it('tus-js-client resumes an upload at its offset', async () => {
      const bytes = someBytes(10 * TUS_PIECE_SIZE + 3);
      const half = 5 * TUS_PIECE_SIZE + 100;
      const broken = startTusUpload(service, bytes, { token, httpStack: createStallingHttpStack(half) });
      await until(
        async () =>
          broken.client.url !== null && (await readReceivedByteCount(service, broken.client.url)) >= 5 * TUS_PIECE_SIZE,
      );
      await broken.client.abort();

      const { sent, id } = await startTusUpload(service, bytes, { token, uploadUrl: broken.client.url }).finished;
      const [head, resumed] = sent as [string, string];
      expect(head).to.equal('HEAD');
      expect(Number(resumed.replace('PATCH ', ''))).to.be.within(5 * TUS_PIECE_SIZE, half);
      expect(sent).to.have.length(2);
      expect(sha256((await readStoredFile(service, here, id))?.bytes as Buffer)).to.equal(sha256(bytes));
      expect(await pieces()).to.deep.equal([]);
    });

    it('an interrupted piece keeps the bytes that had arrived', async () => {
      const bytes = someBytes(TUS_PIECE_SIZE);
      const path = await createTusUpload(service, bytes.length, { token });
      const { request } = sendTusRequest(service, 'PATCH', path, {
        token,
        body: 'open',
        headers: { 'Upload-Offset': '0', 'Content-Length': String(bytes.length) },
      });
      request.on('error', () => {});
      request.write(bytes.subarray(0, 1000));
      await until(async () => (await pieces()).some((name) => name.startsWith(uploadIdOfUrl(path))));
      request.destroy();
      await until(async () => (await readReceivedByteCount(service, path)) === 1000);
      expect((await ask('HEAD', path)).headers['upload-offset']).to.equal('1000');
      expect((await patch(path, 1000, bytes.subarray(1000))).status).to.equal(204);
      expect((await readStoredFile(service, here, uploadIdOfUrl(path)))?.bytes).to.deep.equal(bytes);
    });

    it('a half-open connection releases the upload when its client sends another request', async () => {
      const bytes = someBytes(3000);
      const path = await createTusUpload(service, bytes.length, { token });
      const { request, reply } = sendTusRequest(service, 'PATCH', path, {
        token,
        body: 'open',
        headers: { 'Upload-Offset': '0', 'Content-Length': String(bytes.length) },
      });
      request.write(bytes.subarray(0, 1000));
      await until(async () => (await pieces()).some((name) => name.startsWith(uploadIdOfUrl(path))));
      expect((await ask('HEAD', path)).headers['upload-offset']).to.equal('1000');
      const gaveWay = await reply;
      expect([gaveWay.status, gaveWay.headers['upload-offset']]).to.deep.equal([204, '1000']);
      expect((await patch(path, 1000, bytes.subarray(1000))).status).to.equal(204);
      expect((await readStoredFile(service, here, uploadIdOfUrl(path)))?.bytes).to.deep.equal(bytes);
    });

    it('HEAD creates the file if the service failed after it had stored the last byte', async () => {
      const bytes = someBytes(TUS_PIECE_SIZE + 1);
      const path = await createTusUpload(service, bytes.length, { token });
      expect((await patch(path, 0, bytes.subarray(0, TUS_PIECE_SIZE))).status).to.equal(204);
      // The state after a crash: all bytes are stored, and no file row exists.
      const name = `${uploadIdOfUrl(path)}.part-0000000000000000`;
      await writeFile(`${here.root}/${name}`, bytes.subarray(TUS_PIECE_SIZE));
      await service.database.query(
        'insert into platform_upload_pieces (name, upload, start, size) values ($1, $2, $3, 1)',
        [name, uploadIdOfUrl(path), TUS_PIECE_SIZE],
      );
      await service.database.query('update platform_uploads set received = size where id = $1', [uploadIdOfUrl(path)]);
      expect(await readStoredFile(service, here, uploadIdOfUrl(path))).to.equal(undefined);

      expect((await ask('HEAD', path)).headers['upload-offset']).to.equal(String(bytes.length));
      expect((await readStoredFile(service, here, uploadIdOfUrl(path)))?.bytes).to.deep.equal(bytes);
      expect(await pieces()).to.deep.equal([]);
    });

    it('a crash between file and record creates no second file', async () => {
      const bytes = someBytes(100);
      const { id, url } = await startTusUpload(service, bytes, { token }).finished;
      await service.database.query('update platform_uploads set completed = false where id = $1', [id]);
      const before = (await readStoredFile(service, here, id))?.row;
      expect((await ask('HEAD', new URL(url).pathname)).status).to.equal(200);
      expect((await readStoredFile(service, here, id))?.row).to.deep.equal(before);
    });
  });

  describe('concurrent requests', () => {
    it('of concurrent requests on one upload one writes', async () => {
      const size = 2 * TUS_PIECE_SIZE + 9;
      const path = await createTusUpload(service, size, { token });
      const bodies = Array.from({ length: 8 }, () => someBytes(size));
      const replies = await Promise.all(bodies.map((body) => patch(path, 0, body)));
      const statuses = replies.map(({ status }) => status);
      expect(statuses.filter((status) => status === 204)).to.have.length(1);
      expect(statuses.filter((status) => ![204, 409, 413, 423].includes(status))).to.deep.equal([]);
      const kept = sha256((await readStoredFile(service, here, uploadIdOfUrl(path)))?.bytes as Buffer);
      expect(kept).to.equal(sha256(bodies[statuses.indexOf(204)] as Buffer));
      expect(await pieces()).to.deep.equal([]);
    });

    it('concurrent requests on different uploads do not block each other', async () => {
      const all = Array.from({ length: 6 }, (_, at) => someBytes(TUS_PIECE_SIZE * at + at));
      const done = await Promise.all(all.map((bytes) => startTusUpload(service, bytes, { token }).finished));
      for (const [at, { id }] of done.entries()) {
        expect(sha256((await readStoredFile(service, here, id))?.bytes as Buffer)).to.equal(sha256(all[at] as Buffer));
      }
    });
  });

  describe('termination', () => {
    it('DELETE removes the upload and its pieces', async () => {
      const path = await createTusUpload(service, 4 * TUS_PIECE_SIZE, { token });
      expect((await patch(path, 0, someBytes(2 * TUS_PIECE_SIZE + 1))).status).to.equal(204);
      expect(await pieces()).to.have.length(3);
      await tus.Upload.terminate(service.url + path, { headers: { authorization: `Bearer ${token}` } });
      expect(await pieces()).to.deep.equal([]);
      expect((await ask('HEAD', path)).status).to.equal(403);
      expect((await patch(path, 0, someBytes(1))).status).to.equal(403);
    });
  });

  describe('Upload-Metadata', () => {
    it('metadata sets names, folder, tags and custom fields', async () => {
      await requestAsAdmin(service, 'POST', '/fields/platform_files', { field: 'rating', type: 'integer', schema: {} });
      await requestAsAdmin(service, 'POST', '/fields/platform_files', { field: 'notes', type: 'json', schema: {} });
      const folder = await requestAsAdmin(service, 'POST', '/folders', { name: 'Pictures' });
      const { id } = await startTusUpload(service, Buffer.from('hello'), {
        token,
        metadata: {
          filename_download: 'Grüße.txt',
          filename: 'other.bin',
          type: 'text/plain',
          title: 'true',
          description: 'null',
          folder: folder.id,
          tags: 'a, b',
          rating: '5',
          notes: '{"a":[1]}',
          storage: 'local',
        },
      }).finished;
      const row = (await readStoredFile(service, here, id))?.row;
      expect(row?.filename_disk).to.match(/\.txt$/);
      expect(row).to.deep.include({
        filename_download: 'Grüße.txt',
        type: 'text/plain',
        title: 'true',
        description: null,
        folder: folder.id,
        tags: ['a', 'b'],
        rating: 5,
        notes: { a: [1] },
        storage: 'local',
      });
    });

    it('HEAD returns metadata as it was sent', async () => {
      const metadata = renderUploadMetadata({ filename: 'ä b.txt', title: 'x' });
      const path = await createTusUpload(service, 5, { token, metadata: { filename: 'ä b.txt', title: 'x' } });
      expect((await ask('HEAD', path)).headers['upload-metadata']).to.equal(metadata);
      await ask('DELETE', path);
    });

    const bad: Readonly<Record<string, [metadata: string, status: number, code: string]>> = {
      'no Base64': ['filename !!!', 400, 'INVALID_METADATA'],
      'a name twice': ['title YQ==,title YQ==', 400, 'INVALID_METADATA'],
      'an id that is none': [renderUploadMetadata({ id: 'x' }), 400, 'INVALID_METADATA'],
      'a NUL character': [renderUploadMetadata({ title: 'a\0b' }), 400, 'INVALID_METADATA'],
      'tags that are no list': [renderUploadMetadata({ tags: '[1' }), 400, 'INVALID_METADATA'],
      'a location that is none': [renderUploadMetadata({ storage: 'moon' }), 400, 'INVALID_PAYLOAD'],
      'a file to replace that is not there': [
        renderUploadMetadata({ id: '00000000-0000-4000-8000-000000000000' }),
        403,
        'FORBIDDEN',
      ],
    };
    for (const [what, [metadata, status, code]] of Object.entries(bad)) {
      it(`metadata is rejected before anything is stored: ${what}`, async () => {
        const [{ n: before }] = (await service.database.query<{ n: string }>(
          'select count(*) n from platform_uploads',
        )) as [{ n: string }];
        const refused = await ask('POST', '/files/tus', {
          headers: { 'Upload-Length': '5', 'Upload-Metadata': metadata },
        });
        expect([refused.status, refused.body.errors[0].extensions.code]).to.deep.equal([status, code]);
        expect(await service.database.query('select count(*) n from platform_uploads')).to.deep.equal([{ n: before }]);
      });
    }
  });

  describe('an existing file', () => {
    it('an upload with an id replaces the bytes and keeps all other fields', async () => {
      const first = await startTusUpload(service, Buffer.from('first'), {
        token,
        metadata: { filename: 'a.txt', title: 'Mine' },
      }).finished;
      const before = await readStoredFile(service, here, first.id);
      const bytes = someBytes(TUS_PIECE_SIZE + 7);
      const second = await startTusUpload(service, bytes, { token, metadata: { id: first.id, filename: 'b.bin' } })
        .finished;
      expect(second.id).not.to.equal(first.id);
      const after = await readStoredFile(service, here, first.id);
      expect(sha256(after?.bytes as Buffer)).to.equal(sha256(bytes));
      expect(after?.row).to.include({ id: first.id, title: 'Mine', filename_download: 'b.bin' });
      expect(after?.row.filename_disk).not.to.equal(before?.row.filename_disk);
      expect(await here.objects()).not.to.include(before?.row.filename_disk);
      expect(await readStoredFile(service, here, second.id)).to.equal(undefined);
      expect(await pieces()).to.deep.equal([]);
    });
  });

  describe('limits', () => {
    it('OPTIONS answers Tus-Max-Size and the extensions', async () => {
      const { status, headers } = await ask('OPTIONS', '/files/tus');
      expect(status).to.equal(204);
      expect(headers).to.include({
        'tus-version': '1.0.0',
        'tus-max-size': String(LIMIT),
        'tus-extension': 'creation,creation-with-upload,creation-defer-length,termination,expiration',
      });
    });

    it('an announced length over the limit is rejected', async () => {
      const headers = {
        'Upload-Length': String(LIMIT + 1),
        'Upload-Metadata': renderUploadMetadata({ filename: 'a' }),
      };
      const refused = await ask('POST', '/files/tus', { headers });
      expect([refused.status, refused.body.errors[0].extensions.code]).to.deep.equal([413, 'CONTENT_TOO_LARGE']);
    });

    it('a deferred length over the limit, and bytes over the length, are rejected', async () => {
      const path = await createTusUpload(service, null, { token });
      expect((await ask('HEAD', path)).headers).to.include({ 'upload-defer-length': '1', 'upload-offset': '0' });
      const tooLong = { 'Upload-Offset': '0', 'Upload-Length': String(LIMIT + 1) };
      expect((await ask('PATCH', path, { body: Buffer.alloc(1), headers: tooLong })).status).to.equal(413);
      // Without Content-Length the service detects the excess only while it reads the body.
      const { request, reply } = sendTusRequest(service, 'PATCH', path, {
        token,
        body: 'open',
        headers: { 'Upload-Offset': '0' },
      });
      request.on('error', () => {});
      request.end(Buffer.alloc(LIMIT + 1));
      const refused = await reply;
      expect([refused.status, refused.body.errors[0].extensions.code]).to.deep.equal([413, 'CONTENT_TOO_LARGE']);
      expect((await ask('DELETE', path)).status).to.equal(204);
      expect(await pieces()).to.deep.equal([]);
    });
  });

  describe('protocol', () => {
    it('requests with another Tus-Resumable version get 412', async () => {
      for (const version of ['', '0.2.2']) {
        const refused = await ask('POST', '/files/tus', {
          headers: { 'Tus-Resumable': version, 'Upload-Length': '1' },
        });
        expect([refused.status, refused.headers['tus-version']]).to.deep.equal([412, '1.0.0']);
        expect(refused.body.errors[0].extensions.code).to.equal('TUS_VERSION_NOT_SUPPORTED');
      }
    });

    it('errors have the form of other routes', async () => {
      const path = await createTusUpload(service, 5, { token });
      const codes = async (reply: ReturnType<typeof ask>) => {
        const { status, headers, body } = await reply;
        expect(headers['content-type']).to.match(/^application\/json/);
        expect(headers['tus-resumable']).to.equal('1.0.0');
        expect(body.errors[0].message).to.be.a('string').and.not.equal('');
        return [status, body.errors[0].extensions.code];
      };
      expect(await codes(patch(path, 3, Buffer.alloc(1)))).to.deep.equal([409, 'UPLOAD_OFFSET_MISMATCH']);
      expect(await codes(patch(path, 0, Buffer.alloc(6)))).to.deep.equal([413, 'CONTENT_TOO_LARGE']);
      expect(await codes(ask('PATCH', path, { body: Buffer.alloc(1) }))).to.deep.equal([400, 'INVALID_PAYLOAD']);
      expect(await codes(ask('POST', '/files/tus'))).to.deep.equal([400, 'INVALID_PAYLOAD']);
      expect(await codes(ask('POST', '/files/tus', { headers: { 'Upload-Length': '-1' } }))).to.deep.equal([
        400,
        'INVALID_PAYLOAD',
      ]);
      const typed = { 'Upload-Offset': '0', 'Content-Type': 'text/plain' };
      expect(await codes(ask('PATCH', path, { body: Buffer.alloc(1), headers: typed }))).to.deep.equal([
        415,
        'UNSUPPORTED_MEDIA_TYPE',
      ]);
      const parallel = { 'Upload-Length': '1', 'Upload-Concat': 'partial' };
      expect(await codes(ask('POST', '/files/tus', { headers: parallel }))).to.deep.equal([400, 'INVALID_PAYLOAD']);
      await ask('DELETE', path);
    });

    it('other methods are rejected with 405 and Allow', async () => {
      const { status, body, headers } = await service.request('PUT', '/files/tus', { token });
      expect([status, body.errors[0].extensions.code]).to.deep.equal([405, 'METHOD_NOT_ALLOWED']);
      expect(headers.get('allow')).to.equal('POST, OPTIONS');
    });

    it('Upload-Expires moves with each request that brings bytes', async () => {
      const path = await createTusUpload(service, 5, { token });
      await service.database.query(`update platform_uploads set expires = now() + interval '5 minutes' where id = $1`, [
        uploadIdOfUrl(path),
      ]);
      const before = Date.now();
      const { headers } = await patch(path, 0, Buffer.alloc(1));
      const expires = Date.parse(headers['upload-expires'] as string);
      expect(expires - before).to.be.within(10 * 60_000 - 2000, 10 * 60_000 + 10_000);
      await ask('DELETE', path);
    });

    it('the connection stays usable after an error in the middle of a body', async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const path = await createTusUpload(service, 10, { token });
      const once = (method: string, url: string, body?: Buffer) =>
        new Promise<number>((resolve, reject) => {
          const headers = {
            Authorization: `Bearer ${token}`,
            'Tus-Resumable': '1.0.0',
            'Upload-Offset': '9',
            'Content-Type': 'application/offset+octet-stream',
          };
          const sent = httpRequest(service.url + url, { agent, method, headers });
          sent.on('error', reject);
          sent.on('response', (response) => response.resume().on('end', () => resolve(response.statusCode as number)));
          sent.end(body);
        });
      expect(await once('PATCH', path, someBytes(LIMIT / 2))).to.equal(409);
      expect(await once('HEAD', path)).to.equal(200);
      agent.destroy();
      await ask('DELETE', path);
    });
  });
});

function* split(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
