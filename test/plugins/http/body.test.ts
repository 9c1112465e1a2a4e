import { once } from 'node:events';
import { createServer, request as rawRequest } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import Koa from 'koa';
import { createBodyReaders } from '../../../plugins/http/body.ts';
import { UnfinishedBodyMemoryBudget } from '../../../plugins/http/body-memory.ts';
import { enableLingeringClose } from '../../../plugins/http/lingering-close.ts';
import { type EchoServer, startEchoServer } from './echo-server.ts';

describe('JSON bodies', () => {
  let echo: EchoServer;
  before(async () => {
    echo = await startEchoServer({ MAX_PAYLOAD_SIZE: '10kb' });
  });
  after(() => echo.stop());

  const post = (body: unknown, headers?: Record<string, string>) =>
    echo.request('POST', '/echo/body', { body, headers });
  const codeOf = (reply: { body: { errors: { extensions: { code: string } }[] } }) =>
    reply.body.errors[0]?.extensions.code;

  for (const method of ['POST', 'PATCH', 'DELETE', 'SEARCH']) {
    it(`bodies are read from ${method}`, async () => {
      const reply = await echo.request(method, '/echo/body', { body: [{ a: 'ä' }, 1, null] });
      expect(reply.body).to.deep.equal({ data: { body: [{ a: 'ä' }, 1, null] } });
    });
  }

  it('bodies may be missing from a request', async () => {
    expect((await echo.request('POST', '/echo/body')).body).to.deep.equal({ data: { body: null } });
    expect((await post('')).body).to.deep.equal({ data: { body: null } });
    expect((await chunked(echo.url, [])).body).to.equal('{"data":{"body":null}}');
  });

  it('bodies may have no Content-Type, or one with the suffix +json', async () => {
    expect((await chunked(echo.url, ['{"a"', ':1}'])).body).to.equal('{"data":{"body":{"a":1}}}');
    const reply = await post('{"a":1}', { 'content-type': 'application/vnd.api+json; charset=utf-8' });
    expect(reply.body.data.body).to.deep.equal({ a: 1 });
  });

  it('bodies may be compressed, and their decompressed size is limited', async () => {
    const small = await post(gzipSync('{"a":1}'), { 'content-encoding': 'gzip' });
    expect(small.body.data.body).to.deep.equal({ a: 1 });
    const large = await post(gzipSync(`{"a":"${' '.repeat(100_000)}"}`), { 'content-encoding': 'gzip' });
    expect(large.status).to.equal(413);
    expect(codeOf(await post('{}', { 'content-encoding': 'gzip' }))).to.equal('INVALID_PAYLOAD');
    expect((await post('{}', { 'content-encoding': 'nonsense' })).status).to.equal(415);
  });

  it('bodies larger than MAX_PAYLOAD_SIZE are refused, with and without Content-Length', async () => {
    const text = JSON.stringify('x'.repeat(11_000));
    const announced = await post(`[${text}]`);
    expect([announced.status, codeOf(announced)]).to.deep.equal([413, 'CONTENT_TOO_LARGE']);
    expect((await chunked(echo.url, ['[', text, ']'])).status).to.equal(413);
    expect((await post({ after: 1 })).status).to.equal(200);
  });

  it('bodies of a disconnected client are not waited for, nor are compressed ones', async () => {
    const over: Promise<unknown>[] = [];
    const begun: (() => void)[] = [];
    const app = new Koa().use((ctx) => {
      const memory = new UnfinishedBodyMemoryBudget(10_000);
      const read = createBodyReaders({ maxBytes: 1000, idleTimeout: 0, memory }).readBody(ctx);
      over.push(read.catch((error: unknown) => error));
      for (const tell of begun.splice(0)) tell();
      return read as Promise<void>;
    });
    app.silent = true;
    const server = createServer(app.callback()).listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      const { port } = server.address() as { port: number };
      for (const encoding of ['identity', 'gzip']) {
        const reading = new Promise<void>((resolve) => begun.push(resolve));
        const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
        const request = rawRequest({ port, method: 'POST', headers });
        request.on('error', () => {});
        request.write(encoding === 'gzip' ? gzipSync('{"a":1}').subarray(0, 12) : '{"a":');
        await reading;
        request.destroy();
        expect(await over.at(-1), encoding).to.be.instanceOf(Error);
      }
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  it('bodies that no route reads are discarded for a while before the connection is closed', async () => {
    const server = createServer((req, res) => {
      enableLingeringClose({ req, res }, { deadline: 50, idleTimeout: 50, maxBytes: 1e6 });
      res.setHeader('Connection', 'close');
      res.end('answer');
    }).listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      const socket = connect((server.address() as { port: number }).port, '127.0.0.1');
      socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc');
      let answer = '';
      for await (const part of socket) answer += part;
      expect(answer).to.include('200 OK').and.include('answer');
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  it('bodies that are invalid JSON are refused with the reason', async () => {
    const reply = await post('{"a":');
    expect([reply.status, codeOf(reply)]).to.deep.equal([400, 'INVALID_PAYLOAD']);
    expect(reply.body.errors[0].extensions.reason).to.match(/JSON/);
  });

  for (const text of ['1', '"text"', 'null', 'true']) {
    it(`bodies that are only ${text} are refused`, async () => {
      expect(codeOf(await post(text))).to.equal('INVALID_PAYLOAD');
    });
  }

  it('bodies that are nested too deep are refused, at any depth', async () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect((await post(nested(100))).status).to.equal(200);
    for (const levels of [101, 600, 5000]) expect(codeOf(await post(nested(levels)))).to.equal('INVALID_PAYLOAD');
    const objects = `${'{"a":'.repeat(600)}1${'}'.repeat(600)}`;
    expect(codeOf(await post(objects))).to.equal('INVALID_PAYLOAD');
  });

  it('bodies with NUL characters in values or keys are refused, and with the text "\\u0000" accepted', async () => {
    expect(codeOf(await post([{ a: ['x', 'y\0'] }]))).to.equal('INVALID_PAYLOAD');
    expect(codeOf(await post({ 'a\0': 1 }))).to.equal('INVALID_PAYLOAD');
    expect((await post({ a: '\\u0000' })).body.data.body).to.deep.equal({ a: '\\u0000' });
  });

  it('bodies with __proto__ as a key are refused', async () => {
    expect(codeOf(await post('{"a":{"__proto__":{"admin":true}}}'))).to.equal('INVALID_PAYLOAD');
    expect(codeOf(await post('{"\\u005f_proto__":1}'))).to.equal('INVALID_PAYLOAD');
    expect(({} as Record<string, unknown>).admin).to.equal(undefined);
  });

  it('bodies of other types are refused, and multipart is left to its routes', async () => {
    const form = await post('a=1', { 'content-type': 'application/x-www-form-urlencoded' });
    expect([form.status, codeOf(form)]).to.deep.equal([415, 'UNSUPPORTED_MEDIA_TYPE']);
    const multipart = await post('--x--', { 'content-type': 'multipart/form-data; boundary=x' });
    expect(multipart.body).to.deep.equal({ data: { body: null } });
  });
});

/** A POST in chunks and without a content type, which `fetch` cannot send. */
function chunked(url: string, parts: readonly string[]): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const request = rawRequest(
      `${url}/echo/body`,
      { method: 'POST', headers: { 'transfer-encoding': 'chunked' } },
      (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (part) => (body += part));
        response.on('end', () => resolve({ status: response.statusCode, body }));
      },
    );
    request.on('error', reject);
    for (const part of parts) request.write(part);
    request.end();
  });
}
