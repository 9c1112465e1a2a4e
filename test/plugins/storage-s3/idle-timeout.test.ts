import { Agent, createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { withDownloadIdleTimeout } from '../../../plugins/storage-s3/idle-timeout.ts';
import { sha256 } from '../../support/sha256.ts';
import { captureError } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';
import { createTestBytes as bytesOf, readAllBytes } from '../storage/bytes.ts';

/** Idle timeout of the tested downloads, in milliseconds. */
const LIMIT = 1000;
const DATA = bytesOf(8 * 2 ** 20);

describe('withDownloadIdleTimeout, the idle timeout of downloads', () => {
  let server: Server;
  let answer: (response: ServerResponse) => void;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  before(async () => {
    server = createServer((_request, response) => answer(response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    agent.destroy();
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  });
  const download = async () => {
    const { port } = server.address() as AddressInfo;
    const body = await new Promise<IncomingMessage>((resolve, reject) => {
      get({ host: '127.0.0.1', port, agent }, resolve).on('error', reject);
    });
    return { bytes: withDownloadIdleTimeout(body, 'a.bin', LIMIT), socket: body.socket };
  };

  it('a download fails if the server sends nothing for the idle timeout', async () => {
    answer = (response) => response.writeHead(200, { 'content-length': 1000 }).write('the beginning');
    const error = await captureError(readAllBytes((await download()).bytes));
    expect(error.message).to.equal(`the server has sent nothing more of a.bin for ${LIMIT} ms`);
  });

  it('a connection that breaks before the bytes are read is an error of the reader, and not of the process', async () => {
    answer = (response) => {
      response.writeHead(200, { 'content-length': 1000 }).write('the beginning');
      setImmediate(() => response.socket?.resetAndDestroy());
    };
    const { bytes } = await download();
    await until(() => bytes.errored !== null);
    expect((await captureError(readAllBytes(bytes))).message).to.match(/aborted|reset/i);
  });

  it('a pausing reader does not trigger the idle timeout', async () => {
    answer = (response) => response.end(DATA);
    const { bytes } = await download();
    const parts: Buffer[] = [];
    for await (const part of bytes) {
      // Pauses longer than the idle timeout, once.
      if (parts.length === 0) await pause(1.5 * LIMIT);
      parts.push(part);
    }
    expect(sha256(Buffer.concat(parts))).to.equal(sha256(DATA));
  });

  it('a slow pipe does not trigger the idle timeout', async () => {
    answer = (response) => response.end(DATA);
    const { bytes } = await download();
    const parts: Buffer[] = [];
    const slow = new Writable({
      write(part, _encoding, done) {
        parts.push(part);
        // Pauses longer than the idle timeout, at every 32nd chunk.
        if (parts.length % 32 === 1) setTimeout(done, 1.5 * LIMIT);
        else done();
      },
    });
    await pipeline(bytes, slow);
    expect(sha256(Buffer.concat(parts))).to.equal(sha256(DATA));
  });

  it('a small body read late does not trigger the idle timeout', async () => {
    answer = (response) => response.end('all of it');
    const { bytes } = await download();
    await pause(1.5 * LIMIT);
    expect(String(await readAllBytes(bytes))).to.equal('all of it');
  });

  it('a finished download leaves its connection to the next one without a timer', async () => {
    answer = (response) => response.end('one');
    const first = await download();
    expect(String(await readAllBytes(first.bytes))).to.equal('one');
    await pause(1.5 * LIMIT);
    answer = (response) => response.end('two');
    const second = await download();
    expect(second.socket).to.equal(first.socket);
    expect(String(await readAllBytes(second.bytes))).to.equal('two');
  });
});
