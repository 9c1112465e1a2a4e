import { once } from 'node:events';
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { expect } from 'chai';
import type { OutboundRequest } from '../../../plugins/outbound/contract.ts';
import { captureError } from '../../support/test-plugins.ts';
import {
  createTestOutbound,
  loopbackResolver,
  type RecordingServer,
  startRecordingServer,
  type TestHostResolver,
} from './recording-server.ts';

const request = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  method: 'GET',
  url: new URL(url),
  timeout: 5000,
  maxBytes: 100_000,
  ...more,
});
const reasonOf = async (run: Promise<unknown>) => {
  const failure = await captureError(run);
  expect(failure).to.include({ code: 'SERVICE_UNAVAILABLE', message: 'The requested destination is not available.' });
  return failure.reason;
};

describe('outbound.send', () => {
  let inside: RecordingServer;
  const at = (path: string) => `http://127.0.0.1:${inside.port}${path}`;
  before(async () => {
    inside = await startRecordingServer((incoming, response) => {
      const path = new URL(incoming.url ?? '', 'http://x').pathname;
      if (path === '/redirect') response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end('moved');
      else if (path === '/big') response.end('x'.repeat(200_000));
      else if (path === '/endless') {
        const more = () => response.write('x'.repeat(10_000), () => !response.destroyed && setImmediate(more));
        more();
      } else if (path === '/cut') {
        response.writeHead(200, { 'content-length': '100' }).write('x');
        setImmediate(() => response.destroy());
      } else if (path === '/slow') response.writeHead(200).write('x');
      else if (path === '/never') return;
      else if (path === '/twice') response.setHeader('set-cookie', ['a=1', 'b=2']).setHeader('X-Two', ['1', '2']).end();
      else response.writeHead(path === '/teapot' ? 418 : 200, { 'Content-Type': 'text/plain' }).end('hello');
    });
  });
  after(() => inside.close());

  it('send resolves with status, headers and body', async () => {
    const answer = await createTestOutbound().send(request(at('/teapot?a=b%20c')));
    expect([answer.status, Buffer.from(answer.body).toString()]).to.deep.equal([418, 'hello']);
    expect(answer.headers).to.include({ 'content-type': 'text/plain' });
    expect(inside.received.at(-1)).to.include({ method: 'GET', url: '/teapot?a=b%20c' });
  });

  it('send passes on method, body and all headers that are not reserved', async () => {
    const headers = {
      'X-Own': '1',
      authorization: 'Basic x',
      Host: 'evil.example.com',
      'Transfer-Encoding': 'chunked',
      'Content-Length': '1',
      'X-Forwarded-For': '1.2.3.4',
      'Proxy-Authorization': 'x',
      'Accept-Encoding': 'gzip',
      'bad name': 'x',
      broken: 'a\r\nX-Injected: 1',
    };
    await createTestOutbound().send(request(at('/'), { method: 'PUT', body: 'ünï', headers }));
    const { headers: got, ...rest } = inside.received.at(-1) ?? { headers: {} };
    expect(rest).to.include({ method: 'PUT', body: 'ünï' });
    expect(got).to.deep.equal({
      'x-own': '1',
      authorization: 'Basic x',
      host: `127.0.0.1:${inside.port}`,
      'content-length': '5',
      'accept-encoding': 'identity',
      connection: 'close',
    });
  });

  it('repeated response headers are joined with a comma', async () => {
    const { headers } = await createTestOutbound().send(request(at('/twice')));
    expect(headers).to.include({ 'set-cookie': 'a=1, b=2', 'x-two': '1, 2' });
  });

  it('redirects are not followed', async () => {
    const { status, headers } = await createTestOutbound().send(request(at('/redirect')));
    expect([status, headers.location]).to.deep.equal([302, 'http://127.0.0.1:1/']);
  });

  it('an answer over maxBytes is CONTENT_TOO_LARGE, whatever its content-length says', async () => {
    for (const path of ['/big', '/endless'])
      expect(await captureError(createTestOutbound().send(request(at(path)))), path).to.include({
        code: 'CONTENT_TOO_LARGE',
      });
  });

  it('an answer that breaks off is SERVICE_UNAVAILABLE', async () => {
    expect(await reasonOf(createTestOutbound().send(request(at('/cut'))))).to.equal('unreachable');
  });

  it('one deadline covers name resolution, connection and answer', async () => {
    for (const path of ['/slow', '/never'])
      expect(await reasonOf(createTestOutbound().send(request(at(path), { timeout: 100 }))), path).to.equal('timeout');
    const stuck: TestHostResolver = () => new Promise(() => {});
    expect(
      await reasonOf(createTestOutbound({ resolve: stuck }).send(request('http://a.example/', { timeout: 50 }))),
    ).to.equal('timeout');
  });

  it('an aborted signal ends the request', async () => {
    const stop = new AbortController();
    const running = createTestOutbound().send(request(at('/never'), { signal: stop.signal }));
    setImmediate(() => stop.abort());
    expect(await reasonOf(running)).to.equal('unreachable');
    expect(await reasonOf(createTestOutbound().send(request(at('/'), { signal: stop.signal })))).to.equal(
      'unreachable',
    );
  });

  it('no connection is left open after a request', async () => {
    await createTestOutbound().send(request(at('/')));
    await reasonOf(createTestOutbound().send(request(at('/slow'), { timeout: 50 })));
    const open = () =>
      new Promise<number>((resolve) => inside.server.getConnections((_error, count) => resolve(count)));
    const deadline = Date.now() + 30_000;
    while ((await open()) > 0 && Date.now() < deadline) await new Promise((resolve) => setImmediate(resolve));
    expect(await open()).to.equal(0);
  });

  describe('outbound.send: addresses', () => {
    for (const host of [
      ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '0', '[::1]', '[::ffff:127.0.0.1]', '[::]'],
      ...['169.254.169.254', '[64:ff9b::7f00:1]', '127。0。0。1', '127.0.0.1.', 'localhost.', 'a.example.'],
    ]) {
      it(`a request to ${host} is denied`, async () => {
        const before = inside.received.length;
        const url = `http://${host}:${inside.port}/`;
        expect(
          await reasonOf(createTestOutbound({ resolve: loopbackResolver, allowed: [] }).send(request(url))),
        ).to.equal('denied');
        expect(inside.received.length).to.equal(before);
      });
    }

    it('a name with one private address is denied', async () => {
      const mixed: TestHostResolver = async () => [
        { address: '93.184.216.34', family: 4 },
        { address: '10.0.0.1', family: 4 },
      ];
      for (const resolve of [loopbackResolver, mixed])
        expect(
          await reasonOf(createTestOutbound({ resolve, allowed: [] }).send(request('http://a.example/'))),
        ).to.equal('denied');
      expect(
        await reasonOf(createTestOutbound({ resolve: 'system', allowed: [] }).send(request('http://localhost/'))),
      ).to.equal('denied');
    });

    it('a name is resolved once, and the connection uses the checked address', async () => {
      let lookups = 0;
      const turning: TestHostResolver = async () => {
        lookups++;
        return [{ address: lookups === 1 ? '127.0.0.1' : '10.0.0.1', family: 4 }];
      };
      const { status } = await createTestOutbound({ resolve: turning }).send(
        request(`http://a.example:${inside.port}/`),
      );
      expect([status, lookups]).to.deep.equal([200, 1]);
      expect(inside.received.at(-1)?.headers.host).to.equal(`a.example:${inside.port}`);
    });

    it('an unknown name is SERVICE_UNAVAILABLE', async () => {
      const missing: TestHostResolver = async () => {
        throw new Error('ENOTFOUND a.example');
      };
      for (const options of [{ resolve: missing }, {}])
        expect(await reasonOf(createTestOutbound(options).send(request('http://a.example/')))).to.equal('unreachable');
    });

    it('protocols other than http and https are denied', async () => {
      for (const url of ['file:///etc/passwd', 'ftp://127.0.0.1/', 'data:text/plain,x', 'unix:/run/x'])
        expect(await reasonOf(createTestOutbound({ resolve: loopbackResolver }).send(request(url))), url).to.equal(
          'denied',
        );
      expect(await reasonOf(createTestOutbound().send(request(at('/'), { method: 'CONNECT' })))).to.equal('denied');
    });
  });

  it('TLS sends the host name and rejects a self-signed certificate', async () => {
    const names: (string | undefined)[] = [];
    const server = createTlsServer({
      SNICallback(name, callback) {
        names.push(name);
        callback(new Error('none'));
      },
    }).listen(0, '127.0.0.1');
    server.on('tlsClientError', () => {});
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      const url = `https://secure.example:${port}/`;
      expect(await reasonOf(createTestOutbound({ resolve: loopbackResolver }).send(request(url)))).to.equal(
        'unreachable',
      );
      expect(names).to.deep.equal(['secure.example']);
    } finally {
      server.close();
    }
  });

  it('an answer that is not HTTP is SERVICE_UNAVAILABLE', async () => {
    const answers = [
      '',
      'nonsense\r\n\r\n',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    ];
    const server = createSocketServer((socket: Socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(answers.shift() ?? ''));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      for (let left = answers.length; left > 0; left--)
        expect(await reasonOf(createTestOutbound().send(request(`http://127.0.0.1:${port}/`)))).to.equal('unreachable');
    } finally {
      server.close();
    }
  });
});
