import { once } from 'node:events';
import { request } from 'node:http';
import { expect } from 'chai';
import sharp from 'sharp';
import { type InProcessService, startService } from '../../support/service.ts';
import { sha256 } from '../../support/sha256.ts';
import { captureError } from '../../support/test-plugins.ts';
import { createTestBytes } from '../storage/bytes.ts';
import { type S3Server, startS3Server } from './s3-server.ts';

const MIB = 2 ** 20;

describe('storage-s3: files and assets', function () {
  this.timeout(120_000);
  let server: S3Server;
  let service: InProcessService;
  let bearer: Record<string, string>;
  before(async () => {
    server = await startS3Server();
    service = await startService({
      env: { STORAGE_LOCATIONS: 'media', STORAGE_MEDIA_HEALTHCHECK_THRESHOLD: '60s', ...server.env('media') },
    });
    bearer = { authorization: `Bearer ${service.admin.token}` };
  });
  after(async () => {
    await service?.stop();
    await server?.stop();
  });

  const upload = async (data: Uint8Array, name: string, type: string, method = 'POST', path = '/files') => {
    const form = new FormData();
    form.set('file', new Blob([data as Uint8Array<ArrayBuffer>], { type }), name);
    const answer = await fetch(service.url + path, { method, headers: bearer, body: form });
    expect(answer.status).to.equal(200);
    return ((await answer.json()) as { data: Record<string, unknown> }).data;
  };
  const asset = (id: unknown, query = '', headers = {}) =>
    fetch(`${service.url}/assets/${id}${query}`, { headers: { ...bearer, ...headers } });
  const hashIn = async (answer: Response) => sha256(new Uint8Array(await answer.arrayBuffer()));
  const inBucket = async () => {
    const { Contents = [] } = await server.s3.listObjectsV2({
      Bucket: server.settings.bucket,
      Prefix: server.settings.root,
    });
    return Contents.map(({ Key }) => Key?.slice(server.settings.root.length)).sort();
  };

  it('an upload is stored in the bucket, served whole and in ranges, and removed', async () => {
    const data = createTestBytes(20 * MIB + 5, 1);
    const file = await upload(data, 'large.bin', 'application/octet-stream');
    expect(file).to.include({ storage: 'media', filename_download: 'large.bin' });
    expect(Number(file.filesize)).to.equal(data.length);
    expect(await inBucket()).to.deep.equal([`${file.id}.bin`]);

    expect(await hashIn(await asset(file.id))).to.equal(sha256(data));
    const part = await asset(file.id, '', { range: `bytes=${8 * MIB - 5}-${8 * MIB + 4}` });
    expect(part.status).to.equal(206);
    expect(part.headers.get('content-range')).to.equal(`bytes ${8 * MIB - 5}-${8 * MIB + 4}/${data.length}`);
    expect(await hashIn(part)).to.equal(sha256(data.subarray(8 * MIB - 5, 8 * MIB + 5)));

    expect((await fetch(`${service.url}/files/${file.id}`, { method: 'DELETE', headers: bearer })).status).to.equal(
      204,
    );
    expect(await inBucket()).to.deep.equal([]);
  });

  it('a replacement leaves one object in the bucket', async () => {
    const file = await upload(createTestBytes(1000, 2), 'a.bin', 'application/octet-stream');
    await upload(createTestBytes(2000, 3), 'b.bin', 'application/octet-stream', 'PATCH', `/files/${file.id}`);
    expect(await hashIn(await asset(file.id))).to.equal(sha256(createTestBytes(2000, 3)));
    expect(await inBucket()).to.have.length(1);
    await fetch(`${service.url}/files/${file.id}`, { method: 'DELETE', headers: bearer });
  });

  it('variants are made from the bucket and stored in it', async () => {
    const picture = await sharp({ create: { width: 400, height: 200, channels: 3, background: '#336699' } })
      .png()
      .toBuffer();
    const file = await upload(picture, 'picture.png', 'image/png');
    expect(file).to.include({ width: 400, height: 200 });
    for (const round of ['made', 'from the bucket']) {
      const answer = await asset(file.id, '?width=100&format=webp');
      expect(answer.status, round).to.equal(200);
      const { width, height, format } = await sharp(Buffer.from(await answer.arrayBuffer())).metadata();
      expect({ width, height, format }, round).to.deep.equal({ width: 100, height: 50, format: 'webp' });
    }
    expect(await inBucket()).to.have.length(2);
    await fetch(`${service.url}/files/${file.id}`, { method: 'DELETE', headers: bearer });
    expect(await inBucket()).to.deep.equal([]);
  });

  it('an aborted upload leaves no object and no unfinished upload', async () => {
    const { hostname, port } = new URL(service.url);
    const headers = {
      ...bearer,
      'content-type': 'multipart/form-data; boundary=border',
      'transfer-encoding': 'chunked',
    };
    const sent = request({ hostname, port, method: 'POST', path: '/files', headers });
    const broken = captureError(once(sent, 'response'));
    sent.write('--border\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n');
    sent.write(createTestBytes(20 * MIB, 4));
    const place = { Bucket: server.settings.bucket, Prefix: server.settings.root };
    const uploads = async () => ((await server.s3.listMultipartUploads(place)).Uploads ?? []).length;
    while ((await uploads()) === 0);
    sent.destroy();
    await broken;
    while ((await uploads()) > 0);
    expect(await inBucket()).to.deep.equal([]);
  });

  it('the health check writes and removes an object in the bucket', async () => {
    const health = await (await fetch(`${service.url}/server/health`, { headers: bearer })).json();
    expect(JSON.stringify(health)).to.include('storage:media:responseTime');
    expect((health as { status: string }).status).to.equal('ok');
    expect(await inBucket()).to.deep.equal([]);
  });

  it('a missing STORAGE_MEDIA_BUCKET stops the start', async () => {
    const { STORAGE_MEDIA_BUCKET: _, ...env } = server.env('media');
    const error = await captureError(startService({ env: { STORAGE_LOCATIONS: 'media', ...env } }));
    expect(error.message).to.include('STORAGE_MEDIA_BUCKET is not set');
  });
});
