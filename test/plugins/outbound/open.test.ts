import { expect } from 'chai';
import type { OutboundRequest, StreamedOutboundResponse } from '../../../plugins/outbound/contract.ts';
import { captureError } from '../../support/test-plugins.ts';
import {
  createTestOutbound,
  loopbackResolver,
  type RecordingServer,
  startRecordingServer,
} from './recording-server.ts';

const outbound = createTestOutbound();

const request = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  method: 'GET',
  url: new URL(url),
  timeout: 5000,
  maxBytes: 10_000_000,
  ...more,
});
const textOf = async ({ body }: StreamedOutboundResponse) => {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts).toString();
};

describe('outbound.open', () => {
  let inside: RecordingServer;
  /** Bytes that the endless response has written to its connection. */
  let written = 0;
  const at = (path: string) => `http://127.0.0.1:${inside.port}${path}`;
  const connections = () =>
    new Promise<number>((resolve) => inside.server.getConnections((_error, count) => resolve(count)));
  const noConnections = async () => {
    const deadline = Date.now() + 30_000;
    while ((await connections()) > 0 && Date.now() < deadline) await new Promise((resolve) => setImmediate(resolve));
    expect(await connections()).to.equal(0);
  };

  before(async () => {
    inside = await startRecordingServer((incoming, response) => {
      const path = new URL(incoming.url ?? '', 'http://x').pathname;
      if (path === '/endless') {
        const chunk = Buffer.alloc(64 * 1024, 'x');
        const more = () => {
          if (response.destroyed) return;
          written += chunk.length;
          if (response.write(chunk)) setImmediate(more);
          else response.once('drain', more);
        };
        more();
      } else if (path === '/cut') {
        response.writeHead(200, { 'content-length': '100' }).write('x');
        setImmediate(() => response.destroy());
      } else if (path === '/slow') response.writeHead(200).write('x');
      else if (path === '/never') return;
      else if (path === '/redirect') response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end('moved');
      else response.writeHead(200, { 'Content-Type': 'text/plain' }).end('hello');
    });
  });
  after(() => inside.close());

  it('open resolves with status and headers before the body', async () => {
    const answer = await outbound.open(request(at('/slow')));
    expect(answer.status).to.equal(200);
    const parts = answer.body[Symbol.asyncIterator]();
    expect(Buffer.from((await parts.next()).value as Uint8Array).toString()).to.equal('x');
    await parts.return?.();
    expect(await parts.next()).to.deep.equal({ done: true, value: undefined });
  });

  it('the body can be read to its end', async () => {
    const answer = await outbound.open(request(at('/')));
    expect(answer.headers).to.include({ 'content-type': 'text/plain' });
    expect(await textOf(answer)).to.equal('hello');
    await noConnections();
  });

  it('a redirect is returned as an answer', async () => {
    const { status, headers, body } = await outbound.open(request(at('/redirect')));
    expect([status, headers.location]).to.deep.equal([302, 'http://127.0.0.1:1/']);
    await body[Symbol.asyncIterator]().return?.();
    await noConnections();
  });

  it('the body takes no more from the connection than the reader asks for', async () => {
    written = 0;
    const { body } = await outbound.open(request(at('/endless'), { maxBytes: Number.POSITIVE_INFINITY }));
    const parts = body[Symbol.asyncIterator]();
    await parts.next();
    let before = -1;
    // Waits until the buffers of both ends are full and the server writes no more.
    while (before !== written) {
      before = written;
      for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(written).to.be.below(32 * 1024 * 1024);
    await parts.next();
    await parts.return?.();
    await noConnections();
  });

  it('return() closes the connection, also when no byte was read', async () => {
    for await (const _part of (await outbound.open(request(at('/endless')))).body) break;
    await noConnections();
    await (await outbound.open(request(at('/endless')))).body[Symbol.asyncIterator]().return?.();
    await noConnections();
  });

  it('the body fails where it is too long, breaks off or takes too long', async () => {
    const failed = async (path: string, more: Partial<OutboundRequest> = {}) => {
      const failure = await captureError(textOf(await outbound.open(request(at(path), more))));
      await noConnections();
      return [failure.code, failure.reason];
    };
    expect(await failed('/endless', { maxBytes: 200_000 })).to.deep.equal(['CONTENT_TOO_LARGE', undefined]);
    expect(await failed('/cut')).to.deep.equal(['SERVICE_UNAVAILABLE', 'unreachable']);
    expect(await failed('/slow', { timeout: 100 })).to.deep.equal(['SERVICE_UNAVAILABLE', 'timeout']);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    expect(await failed('/slow', { signal: stop.signal })).to.deep.equal(['SERVICE_UNAVAILABLE', 'unreachable']);
  });

  it('the body fails where the deadline passes between two reads', async () => {
    const { body } = await outbound.open(request(at('/slow'), { timeout: 50 }));
    await noConnections();
    const parts = body[Symbol.asyncIterator]();
    expect((await captureError(parts.next())).reason).to.equal('timeout');
    expect(await parts.next()).to.deep.equal({ done: true, value: undefined });
  });

  it('open fails where no headers arrive before the deadline', async () => {
    expect((await captureError(outbound.open(request(at('/never'), { timeout: 50 })))).reason).to.equal('timeout');
    await noConnections();
  });

  it('open is denied for addresses that are not allowed', async () => {
    const strict = createTestOutbound({ allowed: [] });
    for (const url of [at('/'), 'http://[::1]/', 'file:///etc/passwd', 'http://2130706433/'])
      expect((await captureError(strict.open(request(url)))).reason, url).to.equal('denied');
    const inward = createTestOutbound({ resolve: loopbackResolver, allowed: [] });
    expect((await captureError(inward.open(request('http://a.example/')))).reason).to.equal('denied');
  });
});
