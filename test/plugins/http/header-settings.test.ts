import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { captureError } from '../../support/test-plugins.ts';
import { type EchoServer, startEchoServer } from './echo-server.ts';

describe('settings of headers and of the request log', () => {
  let echo: EchoServer;
  before(async () => {
    echo = await startEchoServer({
      HSTS_ENABLED: 'true',
      HSTS_MAX_AGE: '365d',
      HSTS_PRELOAD: 'true',
      CROSS_ORIGIN_OPENER_POLICY: 'same-origin',
      CONTENT_SECURITY_POLICY_DIRECTIVES__FRAME_ANCESTORS: "'self' https://portal.example.com",
      CONTENT_SECURITY_POLICY_DIRECTIVES__IMG_SRC: 'https://images.example.com,data:',
      IP_CUSTOM_HEADER: 'CF-Connecting-IP',
      LOG_HTTP_IGNORE_PATHS: '/fixed,/echo/items*',
    });
  });
  after(() => echo.stop());

  it('HSTS_* shape Strict-Transport-Security', async () => {
    const { headers } = await echo.request('GET', '/fixed');
    expect(headers.get('strict-transport-security')).to.equal('max-age=31536000; includeSubDomains; preload');
  });

  it('CONTENT_SECURITY_POLICY_DIRECTIVES__* add sources to policies, and frames of other sites replace X-Frame-Options', async () => {
    const { headers } = await echo.request('GET', '/fixed');
    expect(headers.get('content-security-policy')).to.equal(
      "default-src 'none'; frame-ancestors 'self' https://portal.example.com; img-src https://images.example.com data:",
    );
    expect(headers.get('x-frame-options')).to.equal(null);
  });

  it('CROSS_ORIGIN_OPENER_POLICY is sent unless it is switched off', async () => {
    expect((await echo.request('GET', '/fixed')).headers.get('cross-origin-opener-policy')).to.equal('same-origin');
    const other = await startEchoServer({
      CROSS_ORIGIN_OPENER_POLICY_ENABLED: 'false',
      HSTS_ENABLED: 'true',
      HSTS_INCLUDE_SUB_DOMAINS: 'false',
    });
    try {
      const { headers } = await other.request('GET', '/fixed');
      expect(headers.get('cross-origin-opener-policy')).to.equal(null);
      expect(headers.get('strict-transport-security')).to.equal('max-age=15552000');
      expect([headers.get('x-frame-options'), headers.get('content-security-policy')]).to.deep.equal([
        'DENY',
        "default-src 'none'; frame-ancestors 'none'",
      ]);
    } finally {
      await other.stop();
    }
  });

  it('IP_CUSTOM_HEADER names the address of the client where it holds one', async () => {
    const ip = async (value?: string) =>
      (await echo.request('GET', '/echo/client', value === undefined ? {} : { headers: { 'cf-connecting-ip': value } }))
        .body.data.ip;
    expect(await ip('2001:db8::7')).to.equal('2001:db8::7');
    expect(await ip(' ::ffff:1.2.3.4 ')).to.equal('1.2.3.4');
    expect(await ip('1.2.3.4, 5.6.7.8')).to.equal('127.0.0.1');
    expect(await ip('no address')).to.equal('127.0.0.1');
    expect(await ip()).to.equal('127.0.0.1');
  });

  it('a request by UNIX_SOCKET_PATH has the address that the proxy in front names', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tenon-socket-'));
    const socketPath = join(folder, 'tenon.sock');
    const other = await startEchoServer({ UNIX_SOCKET_PATH: socketPath });
    try {
      const request = get({ socketPath, path: '/echo/client', headers: { 'x-forwarded-for': '6.6.6.6, 1.2.3.4' } });
      const [response] = await once(request, 'response');
      const { data } = JSON.parse(Buffer.concat(await response.toArray()).toString());
      expect(data.ip).to.equal('1.2.3.4');
    } finally {
      await other.stop();
      await rm(folder, { recursive: true });
    }
  });

  it('LOG_HTTP_IGNORE_PATHS keeps whole paths and beginnings out of the log', async () => {
    const from = echo.log.length;
    for (const path of ['/fixed', '/fixed?a=1', '/echo/items/7', '/fixed/below', '/echo/client'])
      await echo.request('GET', path);
    expect(echo.log.slice(from).map(({ path }) => path)).to.deep.equal(['/fixed/below', '/echo/client']);
  });

  it('a directive that does not exist, and a source that would end it, stop the start', async () => {
    for (const [name, value, text] of [
      ['CONTENT_SECURITY_POLICY_DIRECTIVES__IMAGE_SRC', 'https://a.example.com', /names no directive/],
      [
        'CONTENT_SECURITY_POLICY_DIRECTIVES__IMG_SRC',
        "https://a.example.com;script-src 'unsafe-inline'",
        /a source with characters/,
      ],
    ] as const) {
      const error = await captureError<Error>(startEchoServer({ [name]: value }));
      expect(error.message).to.contain(name).and.match(text);
    }
  });
});
