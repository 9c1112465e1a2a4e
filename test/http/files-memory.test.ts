import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { expect } from 'chai';
import { type SpawnedService, spawnService } from '../support/service.ts';

const MIB = 1024 ** 2;
/** Bytes of the file. FILES_MEMORY_MIB=2048 tests the promised size; the default keeps the test short. */
const SIZE = Number(process.env.FILES_MEMORY_MIB ?? 320) * MIB;
const LIMIT = 200_000_000;

/** The block of the file at this position. All blocks differ, so that a lost or repeated block changes the hash. */
function blockAt(position: number, base: Buffer): Buffer {
  const block = Buffer.from(base);
  block.writeBigInt64LE(BigInt(position));
  return block;
}

describe('memory of the service with large files', function () {
  this.timeout(600_000);
  let service: SpawnedService;
  let base: Buffer;
  before(async () => {
    // Tests hash passwords with little memory (QUICK_HASHES), so hashing does not distort the measurement.
    service = await spawnService();
    base = Buffer.alloc(MIB, createHash('sha512').update('bytes').digest());
  });
  after(() => service?.stop());

  const resident = async () => {
    const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
  };

  /** Runs `work`, and answers the largest of the samples of the resident memory meanwhile, and the number of samples. */
  async function watched<T>(work: () => Promise<T>) {
    let peak = await resident();
    let samples = 1;
    const timer = setInterval(async () => {
      peak = Math.max(peak, await resident());
      samples++;
    }, 25);
    try {
      const result = await work();
      return { result, peak, samples };
    } finally {
      clearInterval(timer);
    }
  }

  /** Uploads the file with backpressure. Answers its id and the hash of the sent bytes. */
  async function upload() {
    const hash = createHash('sha256');
    const sending = request(`${service.url}/files`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.admin.token}`,
        'content-type': 'multipart/form-data; boundary=boundary',
      },
    });
    const answered = once(sending, 'response') as Promise<[IncomingMessage]>;
    answered.catch(() => {});
    sending.write(
      '--boundary\r\nContent-Disposition: form-data; name="file"; filename="large.bin"\r\nContent-Type: application/x-large\r\n\r\n',
    );
    for (let at = 0; at < SIZE; at += MIB) {
      const block = blockAt(at, base);
      hash.update(block);
      if (!sending.write(block)) await once(sending, 'drain');
    }
    sending.end('\r\n--boundary--\r\n');
    const [response] = await answered;
    let text = '';
    for await (const part of response.setEncoding('utf8')) text += part;
    expect(response.statusCode, text).to.equal(200);
    const { id, filesize } = JSON.parse(text).data;
    expect(Number(filesize)).to.equal(SIZE);
    return { id, hash: hash.digest('hex') };
  }

  /** Downloads the file by ranges of about 100 MiB, and answers the hash of all bytes. */
  async function download(id: string) {
    const hash = createHash('sha256');
    const step = 100 * MIB + 12_345;
    for (let start = 0; start < SIZE; start += step) {
      const end = Math.min(start + step, SIZE) - 1;
      const response = await fetch(`${service.url}/assets/${id}`, {
        headers: { authorization: `Bearer ${service.admin.token}`, range: `bytes=${start}-${end}` },
      });
      expect(response.status).to.equal(206);
      expect(response.headers.get('content-range')).to.equal(`bytes ${start}-${end}/${SIZE}`);
      for await (const part of response.body as ReadableStream<Uint8Array>) hash.update(part);
    }
    return hash.digest('hex');
  }

  const logPeak = (what: string, peak: number, samples: number) =>
    process.env.FILES_MEMORY_MIB
      ? console.log(`      ${what}: ${Math.round(peak / MIB)} MiB at most in ${samples} samples`)
      : undefined;

  it('upload and download of a large file stay below 200 MB of memory', async () => {
    const up = await watched(upload);
    logPeak('upload', up.peak, up.samples);
    expect(up.peak, 'while it takes the file').to.be.below(LIMIT);
    expect(up.samples).to.be.above(10);
    const down = await watched(() => download(up.result.id));
    logPeak('download', down.peak, down.samples);
    expect(down.result).to.equal(up.result.hash);
    expect(down.peak, 'while it gives the file').to.be.below(LIMIT);
  });
});
