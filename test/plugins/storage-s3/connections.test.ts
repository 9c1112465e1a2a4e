import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { StorageDriver } from '../../../plugins/storage/contract.ts';
import { sha256 } from '../../support/sha256.ts';
import { captureError } from '../../support/test-plugins.ts';
import { createTestBytes, readAllBytes, yieldByteChunks } from '../storage/bytes.ts';
import { type S3Relay, startS3Relay } from './fault-injecting-s3-proxy.ts';
import { type S3Server, type S3Settings, startS3Server } from './s3-server.ts';

const MIB = 2 ** 20;
const newName = () => `${randomUUID()}.bin`;

describe('storage-s3: connections', function () {
  this.timeout(120_000);
  let server: S3Server;
  let driver: StorageDriver;
  const opened: StorageDriver[] = [];
  const open = (settings: Partial<S3Settings> = {}) => {
    const one = server.open(settings);
    opened.push(one);
    return one;
  };
  before(async () => {
    server = await startS3Server();
    driver = server.open();
  });
  after(async () => {
    await driver?.close?.();
    await server?.stop();
  });

  const write = (name: string, data: Uint8Array, to = driver) => to.write(name, yieldByteChunks(data));
  const hashAt = async (name: string, from = driver) => {
    const object = await from.open(name);
    return object && sha256(await readAllBytes(object.bytes));
  };

  let relay: S3Relay;
  beforeEach(async () => {
    relay = await startS3Relay(server.settings.endpoint as string);
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close?.();
    await relay?.close();
  });
  const through = (settings: Partial<S3Settings> = {}) => open({ endpoint: relay.url, ...settings });

  it('a request is retried after 503, 500 and a cut connection', async () => {
    const fates = [{ status: 503 }, 'cut', { status: 500 }] as const;
    let at = 0;
    relay.decide(() => fates[at++] ?? 'pass');
    const name = newName();
    await write(name, createTestBytes(1000), through());
    expect(at).to.equal(4);
    expect((await driver.stat(name))?.size).to.equal(1000);
  });

  it('a part of an upload is retried after cut connections', async () => {
    let cuts = 0;
    relay.decide((line) => (line.includes('partNumber=2') && cuts++ < 2 ? 'cut' : 'pass'));
    const name = newName();
    const data = createTestBytes(17 * MIB, 9);
    await write(name, data, through());
    expect(cuts).to.equal(3);
    expect(await hashAt(name)).to.equal(sha256(data));
  });

  it('a completed upload whose response was lost succeeds', async () => {
    let answers = 0;
    relay.decide((line) => {
      if (!line.startsWith('POST') || !line.includes('uploadId')) return 'pass';
      // Many servers answer 404 to a second completion of an upload. Swift would confirm it again, so the relay answers.
      return answers++ === 0 ? 'lose the answer' : { status: 404 };
    });
    const name = newName();
    const data = createTestBytes(9 * MIB, 10);
    expect(await write(name, data, through())).to.equal(data.length);
    expect(answers).to.equal(2);
    expect(await hashAt(name)).to.equal(sha256(data));
  });

  it('an upload that the server does not complete fails and leaves nothing', async () => {
    relay.decide((line) => (line.startsWith('POST') && line.includes('uploadId') ? { status: 404 } : 'pass'));
    const name = newName();
    const error = await captureError(write(name, createTestBytes(9 * MIB, 10), through()));
    expect(error.message).to.include(`completing ${name} in the bucket ${server.settings.bucket}`);
    expect(await driver.stat(name)).to.equal(undefined);
    const place = { Bucket: server.settings.bucket, Prefix: server.settings.root + name };
    expect((await server.s3.listMultipartUploads(place)).Uploads ?? []).to.deep.equal([]);
  });

  it('remove() sends no requests for objects whose names start alike', async () => {
    const name = randomUUID();
    const other = { Bucket: server.settings.bucket, Key: `${server.settings.root}${name}.jpg` };
    const { UploadId } = await server.s3.createMultipartUpload(other);
    await through().remove(name);
    expect(relay.seen.filter(({ line }) => line.startsWith('DELETE'))).to.have.length(1);
    await server.s3.abortMultipartUpload({ ...other, UploadId });
  });

  it('an object whose responses are all lost is removed', async () => {
    relay.decide((line) => (line.startsWith('PUT') ? 'lose the answer' : 'pass'));
    const name = newName();
    expect(await captureError(write(name, createTestBytes(1000), through()))).to.be.an('error');
    expect(await driver.stat(name)).to.equal(undefined);
  });

  it('a download fails when its connection breaks', async () => {
    const name = newName();
    await write(name, createTestBytes(9 * MIB, 11));
    const object = await through().open(name);
    const failed = captureError(
      (async () => {
        for await (const _part of object?.bytes ?? []) await relay.close();
      })(),
    );
    expect(await failed).to.be.an('error');
  });

  it('a destroyed body closes its connection', async () => {
    const name = newName();
    await write(name, createTestBytes(9 * MIB, 12));
    const one = through();
    const objects = await Promise.all(Array.from({ length: 8 }, () => one.open(name)));
    expect(relay.connections()).to.equal(8);
    for (const object of objects) object?.bytes.destroy();
    while (relay.connections() > 0) await new Promise(setImmediate);
  });

  it('sixty stalled downloads do not block other requests', async () => {
    const name = newName();
    await write(name, createTestBytes(1000));
    relay.decide((line) => (line.startsWith('GET') ? 'fall silent' : 'pass'));
    const one = through();
    const objects = await Promise.all(Array.from({ length: 60 }, () => one.open(name)));
    expect((await one.stat(name))?.size).to.equal(1000);
    for (const object of objects) object?.bytes.destroy();
  });

  it('close() closes all connections', async () => {
    const one = through();
    await one.stat('a');
    expect(relay.connections()).to.equal(1);
    await one.close?.();
    while (relay.connections() > 0) await new Promise(setImmediate);
  });

  it('writes send the settings ACL and SERVER_SIDE_ENCRYPTION', async () => {
    const one = through({ acl: 'public-read', encryption: 'AES256' });
    const begins = [
      ['PUT', createTestBytes(10)],
      ['POST', createTestBytes(9 * MIB)],
    ] as const;
    for (const [method, data] of begins) {
      const { message } = await captureError(write(newName(), data, one));
      expect(message, 'the server of these tests encrypts nothing').to.match(/: NotImplemented: /);
      expect(relay.seen.at(method === 'PUT' ? -2 : -1)?.headers).to.include({
        'x-amz-acl': 'public-read',
        'x-amz-server-side-encryption': 'AES256',
      });
    }
  });

  it('bodies carry a signed hash, and checksums only with CHECKSUMS=true', async () => {
    for (const checksums of [false, true]) {
      for (const data of [createTestBytes(10), createTestBytes(9 * MIB)]) {
        const name = newName();
        await write(name, data, through({ checksums }));
        expect(await hashAt(name)).to.equal(sha256(data));
        const bodies = relay.seen.filter(({ line }) => line.startsWith('PUT'));
        for (const { headers } of bodies.slice(data.length > 8 * MIB ? -2 : -1)) {
          expect(headers['x-amz-content-sha256']).to.match(/^[0-9a-f]{64}$/);
          expect('x-amz-checksum-crc32' in headers, 'checksum').to.equal(checksums);
          expect(headers).not.to.have.any.keys('expect', 'x-amz-trailer');
        }
      }
    }
  });
});
