import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../../support/until.ts';
import { type AssetRoutesFixture, SERVED_FILE_ID, startAssetRoutes } from './asset-routes-fixture.ts';

const MEGABYTE = 1024 * 1024;
const SIZE = 64 * MEGABYTE;

/** State of one stream that the routes opened: bytes read, and whether it was closed. */
interface Reader {
  read: number;
  closed: boolean;
}

describe('streaming of large assets', () => {
  let ground: AssetRoutesFixture;
  let readers: Reader[];
  /** The misbehaviour of the storage stream: what it does after `after` bytes. */
  let turn: { readonly after: number; readonly how: 'fail' | 'end' | 'hang' | 'more' } | undefined;

  beforeEach(async () => {
    readers = [];
    turn = undefined;
    const file = { filename_disk: 'a.bin' };
    ground = await startAssetRoutes({ file, objects: { 'a.bin': open }, environment: { STREAM_STALL_TIMEOUT: '3s' } });
  });
  afterEach(() => ground?.stop());

  function open() {
    const reader: Reader = { read: 0, closed: false };
    readers.push(reader);
    const bytes = new Readable({
      highWaterMark: 256 * 1024,
      read() {
        const happens = turn && reader.read >= turn.after ? turn.how : undefined;
        if (happens === 'fail') return void this.destroy(new Error('the disk is gone'));
        if (happens === 'hang') return;
        if (happens === 'end' || (reader.read >= SIZE && happens !== 'more')) return void this.push(null);
        reader.read += 256 * 1024;
        this.push(Buffer.alloc(256 * 1024, 'x'));
      },
      destroy(error, done) {
        reader.closed = true;
        done(error);
      },
    });
    return { size: SIZE, bytes };
  }

  async function answer(headers: Record<string, string> = {}): Promise<IncomingMessage> {
    const request = get(`${ground.url}/assets/${SERVED_FILE_ID}`, { agent: false, headers });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response;
  }

  /** Reads a response to its end: number of bytes, and whether it was complete. */
  async function taken(response: IncomingMessage): Promise<{ bytes: number; end: 'whole' | 'broken' }> {
    let bytes = 0;
    try {
      for await (const part of response) bytes += (part as Buffer).length;
      return { bytes, end: response.complete ? 'whole' : 'broken' };
    } catch {
      return { bytes, end: 'broken' };
    }
  }

  const line = () => ground.log.find(({ msg }) => msg === 'request');

  it('a large object is sent whole with its length, and its reader is closed', async () => {
    const response = await answer();
    expect(response.headers['content-length']).to.equal(String(SIZE));
    expect(await taken(response)).to.deep.equal({ bytes: SIZE, end: 'whole' });
    await until(() => readers.every(({ closed }) => closed));
    expect(readers).to.have.length(1);
  });

  it('the reader reads no faster than the client takes', async () => {
    const response = await answer();
    await pause(200);
    expect((readers[0] as Reader).read).to.be.below(SIZE / 2);
    response.destroy();
  });

  it('the request is logged when the stream ends', async () => {
    const response = await answer();
    await pause(50);
    expect(line()).to.equal(undefined);
    await taken(response);
    await until(() => line() !== undefined);
    expect(line()).to.include({ status: 200, method: 'GET' });
  });

  it('the reader is closed when the client leaves', async () => {
    const response = await answer();
    response.destroy();
    await until(() => (readers[0] as Reader).closed);
    await until(() => line() !== undefined);
  });

  it('a hanging reader is closed when the client leaves', async () => {
    turn = { after: 512 * 1024, how: 'hang' };
    const response = await answer();
    response.destroy();
    await until(() => (readers[0] as Reader).closed);
  });

  it('the reader is closed when the client leaves before the first byte', async () => {
    turn = { after: 0, how: 'hang' };
    const request = get(`${ground.url}/assets/${SERVED_FILE_ID}`, { agent: false });
    request.on('error', () => {});
    await until(() => readers.length === 1);
    request.destroy();
    await until(() => (readers[0] as Reader).closed);
  });

  it('a client that takes nothing for STREAM_STALL_TIMEOUT is disconnected', async () => {
    const response = await answer();
    await until(() => (readers[0] as Reader).closed);
    expect((await taken(response)).end).to.equal('broken');
    expect(ground.log.some(({ msg }) => msg === 'a client read a streamed response too slowly')).to.equal(true);
  });

  it('the response breaks off if the backend fails, ends early or has more bytes than promised', async () => {
    for (const how of ['fail', 'end'] as const) {
      turn = { after: 8 * MEGABYTE, how };
      const { bytes, end } = await taken(await answer());
      expect([end, bytes < SIZE], how).to.deep.equal(['broken', true]);
    }
    turn = { after: SIZE, how: 'more' };
    const response = await answer();
    // The client never gets more bytes than Content-Length promises.
    expect((await taken(response)).bytes).to.be.at.most(SIZE);
    await until(() => readers.every(({ closed }) => closed));
    expect(ground.log.filter(({ msg }) => msg === 'a streamed response failed')).to.have.length(3);
  });

  it('a reader that yields more than the range is closed', async () => {
    turn = { after: 0, how: 'more' };
    const reply = await ground.request('GET', `/assets/${SERVED_FILE_ID}`, { headers: { range: 'bytes=0-99' } });
    expect(reply.status).to.equal(500);
    // The routes open one of the readers only for the size of the object.
    await until(() => readers.filter(({ read }) => read > 0).every(({ closed }) => closed));
  });

  it('a backend that fails before the first byte answers 500 without headers of the file', async () => {
    turn = { after: 0, how: 'fail' };
    const { status, headers, body } = await ground.request('GET', `/assets/${SERVED_FILE_ID}`);
    expect([status, body.errors[0].extensions.code]).to.deep.equal([500, 'INTERNAL_SERVER_ERROR']);
    expect([headers.get('etag'), headers.get('content-disposition')]).to.deep.equal([null, null]);
    expect(headers.get('content-type')).to.match(/^application\/json/);
    expect(headers.get('content-range')).to.equal(null);
  });

  it('a reader that ends with the requested range gives a complete response', async () => {
    turn = { after: 1024 * 1024, how: 'end' };
    const whole = await taken(await answer({ range: `bytes=0-${1024 * 1024 - 1}` }));
    expect(whole).to.deep.equal({ bytes: 1024 * 1024, end: 'whole' });
    const short = await taken(await answer({ range: `bytes=0-${2 * 1024 * 1024 - 1}` }));
    expect(short.end).to.equal('broken');
  });

  it('HEAD opens no object', async () => {
    const { status, headers } = await ground.request('HEAD', `/assets/${SERVED_FILE_ID}`);
    expect([status, headers.get('content-length')]).to.deep.equal([200, String(SIZE)]);
    expect(ground.storageCalls).to.deep.equal(['stat a.bin']);
  });
});
