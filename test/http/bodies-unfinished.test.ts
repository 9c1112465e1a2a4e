import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type InProcessService, startService } from '../support/service.ts';

const LIMIT = 8 * 1024 * 1024;
const STALL = 2000;

/** A connection to which a test writes raw bytes. */
interface Line {
  readonly socket: Socket;
  readonly text: () => string;
  /** Resolves when the service has ended or closed the connection. */
  readonly ended: Promise<unknown>;
}

function line(service: InProcessService, from = '127.0.0.1'): Line {
  const socket = connect({ port: Number(new URL(service.url).port), host: '127.0.0.1', localAddress: from });
  let text = '';
  socket.setEncoding('latin1').on('data', (part) => (text += part));
  socket.on('error', () => {});
  return { socket, text: () => text, ended: Promise.race([once(socket, 'end'), once(socket, 'close')]) };
}

const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
const head = (path: string, headers: Readonly<Record<string, string | number>>): string =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '\r\n',
  ].join('\r\n');
const JSON_TYPE = { 'Content-Type': 'application/json' };

describe('request bodies that do not arrive completely', () => {
  let service: InProcessService;
  const lines: Line[] = [];
  before(async () => {
    service = await startService({
      env: { STREAM_STALL_TIMEOUT: `${STALL}`, MAX_PAYLOAD_MEMORY: `${LIMIT}`, FILES_MAX_UPLOAD_SIZE: '1mb' },
    });
  });
  afterEach(() => {
    for (const { socket } of lines.splice(0)) socket.destroy();
  });
  after(() => service?.stop());

  const open = (from?: string): Line => {
    const one = line(service, from);
    lines.push(one);
    return one;
  };
  const bearer = () => ({ Authorization: `Bearer ${service.admin.token}` });

  /** The bytes of unfinished request bodies that the service has in memory, as GET /server/health shows them to admins. */
  async function held(): Promise<number> {
    const { body } = await service.request('GET', '/server/health', { token: service.admin.token });
    return body.checks['http:unfinishedBodies'][0].observedValue;
  }

  const STALLING = [
    ['JSON', '/auth/login', 'application/json', '{"email":'],
    ['GraphQL', '/graphql', 'application/json', '{"query":'],
    ['compressed JSON', '/auth/login', 'application/json', gzipSync('{"email":1}').subarray(0, 14)],
    ['an import', '/files/import', 'application/json', '{"url":'],
    [
      'a form before its file',
      '/files',
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; na',
    ],
    [
      'a form within its file',
      '/files',
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nabc',
    ],
  ] as const;

  it('a body of which nothing arrives for STREAM_STALL_TIMEOUT is answered 408 OUT_OF_TIME and its connection ends', async () => {
    const answers = await Promise.all(
      STALLING.map(async ([what, path, type, body]) => {
        const { socket, text, ended } = open();
        const encoding = typeof body === 'string' ? undefined : { 'Content-Encoding': 'gzip' };
        socket.write(head(path, { ...bearer(), 'Content-Type': type, 'Content-Length': 5000, ...encoding }));
        socket.write(body);
        await ended;
        return [what, statusOf(text()), /^connection: close\r$/im.test(text()), text().includes('"OUT_OF_TIME"')];
      }),
    );
    expect(answers).to.deep.equal(STALLING.map(([what]) => [what, 408, true, true]));
  });

  it('a body that arrives byte by byte may take longer than STREAM_STALL_TIMEOUT', async () => {
    const { socket, text, ended } = open();
    const parts = ['{"email"', ':"a@', 'b.c",', '"pass', 'word":', '"x"}'];
    const length = parts.join('').length;
    socket.write(head('/auth/login', { ...JSON_TYPE, 'Content-Length': length, Connection: 'close' }));
    for (const part of parts) {
      await new Promise((resolve) => setTimeout(resolve, STALL / 4));
      socket.write(part);
    }
    await ended;
    expect(statusOf(text())).to.equal(401);
  });

  it('1,000 unfinished bodies from one address hold at most MAX_PAYLOAD_MEMORY, and bodies of other addresses are read meanwhile', async function () {
    this.timeout(60_000);
    const part = `{"email":"${'x'.repeat(60_000)}`;
    const slow = open('127.0.0.3');
    const login = JSON.stringify({ email: 'a@b.c', password: 'x'.repeat(600_000) });
    slow.socket.write(head('/auth/login', { ...JSON_TYPE, 'Content-Length': login.length, Connection: 'close' }));
    let sent = 500_000;
    slow.socket.write(login.slice(0, sent));
    // This client sends one byte every 50 ms, so that STREAM_STALL_TIMEOUT does not end its request.
    const drip = setInterval(() => void slow.socket.write(login.slice(sent, ++sent)), 50);
    slow.socket.once('close', () => clearInterval(drip));
    const senders = Array.from({ length: 1000 }, () => {
      const one = open('127.0.0.2');
      one.socket.write(head('/auth/login', { ...JSON_TYPE, 'Content-Length': 900_000 }));
      one.socket.write(part);
      return one;
    });
    let most = 0;
    let refused = 0;
    while (refused < 500) {
      most = Math.max(most, await held());
      const { status } = await service.request('POST', '/auth/login', { body: { email: 'no mail' } });
      expect(status).to.equal(400);
      refused = senders.filter(({ text }) => text() !== '').length;
    }
    clearInterval(drip);
    slow.socket.write(login.slice(sent));
    await slow.ended;
    expect(statusOf(slow.text())).to.equal(401);
    await Promise.all(senders.map(({ ended }) => ended));
    expect(most).to.be.within(1, LIMIT);
    const answers = new Set(senders.map(({ text }) => statusOf(text())));
    expect([...answers].sort()).to.deep.equal([408, 503]);
    const unavailable = senders.find(({ text }) => statusOf(text()) === 503)?.text();
    expect(unavailable)
      .to.match(/^retry-after: \d+\r$/im)
      .and.match(/^connection: close\r$/im);
  });

  it('the memory limit counts compressed bodies decompressed, and fields of forms', async function () {
    this.timeout(60_000);
    const zipped = gzipSync(`{"email":"${'x'.repeat(900_000)}`);
    const field = `--x\r\nContent-Disposition: form-data; name="title"\r\n\r\n${'x'.repeat(900_000)}`;
    for (const [headers, path, body] of [
      [{ ...JSON_TYPE, 'Content-Encoding': 'gzip' }, '/auth/login', zipped],
      [{ ...bearer(), 'Content-Type': 'multipart/form-data; boundary=x' }, '/files', field],
    ] as const) {
      const senders = Array.from({ length: 20 }, () => {
        const one = open();
        one.socket.write(head(path, { ...headers, 'Content-Length': body.length + 1000 }));
        one.socket.write(body);
        return one;
      });
      await Promise.all(senders.map(({ ended }) => ended));
      const counts = Map.groupBy(senders, ({ text }) => statusOf(text()));
      expect([...counts.keys()].sort(), path).to.deep.equal([408, 503]);
      // At most nine of the bodies fit into 8 MiB.
      expect(counts.get(408), path).to.have.length.at.most(9);
    }
  });

  it('unfinished bodies hold no memory once their clients have disconnected', async () => {
    const gone = Array.from({ length: 5 }, () => open());
    for (const { socket } of gone) {
      socket.write(head('/auth/login', { ...JSON_TYPE, 'Content-Length': 900_000 }));
      socket.write(`{"email":"${'x'.repeat(10_000)}`);
    }
    while ((await held()) < 50_000);
    for (const { socket } of gone) socket.destroy();
    while ((await held()) > 0);
  });
});

describe('a response that is sent before the request body has arrived', () => {
  let service: InProcessService;
  before(async () => {
    service = await startService({ env: { FILES_MAX_UPLOAD_SIZE: '1mb' } });
  });
  after(() => service?.stop());

  for (const connection of ['keep-alive', 'close']) {
    for (const [what, path, type] of [
      ['JSON that is too large', '/auth/login', 'application/json'],
      ['a body of no known type', '/auth/login', 'text/plain'],
      ['a body of no route', '/nowhere', 'application/json'],
      ['a form without rights', '/files', 'multipart/form-data; boundary=x'],
    ] as const) {
      it(`an early response reaches a client that sends all of ${what} before it reads, with Connection: ${connection}`, async () => {
        const size = 30 * 1024 * 1024;
        const { socket, text, ended } = line(service);
        try {
          // Stands for a client that reads nothing while it sends.
          socket.pause();
          socket.write(head(path, { 'Content-Type': type, 'Content-Length': size, Connection: connection }));
          const part = Buffer.alloc(1024 * 1024, ' ');
          for (let at = 0; at < 30; at++) await new Promise((resolve) => socket.write(part, resolve));
          expect(socket.destroyed, 'the connection was reset').to.equal(false);
          socket.resume();
          await ended;
          expect(statusOf(text())).to.be.within(400, 415);
          expect(text()).to.match(/^connection: close\r$/im);
        } finally {
          socket.destroy();
        }
      });
    }
  }

  it('an early response reaches each of a hundred clients at once, although fewer bodies are discarded at the same time', async () => {
    const lines = Array.from({ length: 100 }, () => line(service));
    try {
      for (const { socket } of lines) {
        socket.write(head('/auth/login', { 'Content-Type': 'application/json', 'Content-Length': 30 * 1024 * 1024 }));
        socket.write(Buffer.alloc(100_000, ' '));
      }
      await Promise.all(lines.map(({ ended }) => ended));
      expect(new Set(lines.map(({ text }) => statusOf(text())))).to.deep.equal(new Set([413]));
    } finally {
      for (const { socket } of lines) socket.destroy();
    }
  });

  it('an early response reaches a client with 413 that sends a whole large form before it reads', async () => {
    const { socket, text, ended } = line(service);
    const size = 20 * 1024 * 1024;
    const type = 'multipart/form-data; boundary=x';
    try {
      socket.pause();
      const authorization = `Bearer ${service.admin.token}`;
      socket.write(
        head('/files', { authorization, 'Content-Type': type, 'Content-Length': size, Connection: 'close' }),
      );
      socket.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n');
      const part = Buffer.alloc(1024 * 1024, 'a');
      for (let at = 0; at < 19; at++) await new Promise((resolve) => socket.write(part, resolve));
      socket.resume();
      await ended;
      expect(statusOf(text())).to.equal(413);
    } finally {
      socket.destroy();
    }
  });

  it('an early response carries Connection: close from a service that stops, although the connection was kept alive', async () => {
    const stopping = await startService();
    const { socket, text, ended } = line(stopping);
    try {
      const body = `{"email":"${'x'.repeat(20_000)}"}`;
      socket.write(head('/auth/login', { ...JSON_TYPE, 'Content-Length': body.length }));
      socket.write(body.slice(0, 9));
      const isWaiting = async () => {
        const { body: health } = await stopping.request('GET', '/server/health', { token: stopping.admin.token });
        return health.checks['http:unfinishedBodies'][0].observedValue > 0;
      };
      while (!(await isWaiting()));
      const stopped = stopping.kernel.stop();
      socket.write(body.slice(9));
      await ended;
      await stopped;
      expect(statusOf(text())).to.equal(400);
      expect(text()).to.match(/^connection: close\r$/im);
    } finally {
      socket.destroy();
      await stopping.stop();
    }
  });
});
