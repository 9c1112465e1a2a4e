import { once } from 'node:events';
import { type IncomingMessage, request as openRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { startService } from '../../support/service.ts';
import { PageClient } from './page-client.ts';

const LOGIN = '/admin/login';

describe('limits of sign-in pages', function () {
  this.timeout(60_000);

  it('count a page as one request, and a wrong password as much as by POST /auth/login, up to a page with 429', async () => {
    const env = { RATE_LIMITER_ENABLED: 'true', RATE_LIMITER_POINTS: '20', RATE_LIMITER_DURATION: '600' };
    const service = await startService({ env });
    try {
      const { email } = service.admin;
      const client = new PageClient(service.url);
      const remaining = (headers: Headers) => Number(headers.get('ratelimit-remaining'));
      const page = await client.get(LOGIN);
      const begin = remaining(page.headers);
      const byPage = await client.submit(page, LOGIN, { email, password: 'wrong' });
      expect([byPage.status, begin - remaining(byPage.headers)]).to.deep.equal([401, 5]);
      const byApi = await service.request('POST', '/auth/login', { body: { email, password: 'wrong' } });
      expect(remaining(byPage.headers) - remaining(byApi.headers)).to.equal(5);
      let reply = byPage;
      for (let count = 0; count < 20 && reply.status !== 429; count++) reply = await client.get(LOGIN);
      expect([reply.status, reply.headers.get('content-type')]).to.deep.equal([429, 'text/html; charset=utf-8']);
      expect(reply.text).to.match(/too many attempts.*possible in \d+ seconds/);
      expect(Number(reply.headers.get('retry-after'))).to.be.above(1);
      expect(reply.headers.get('cache-control')).to.equal('no-store');
    } finally {
      await service.stop();
    }
  });

  it('suspend a user after auth_login_attempts wrong passwords by the page', async () => {
    const service = await startService();
    try {
      const { request, admin } = service;
      const send = (method: string, path: string, body: object) => request(method, path, { token: admin.token, body });
      expect((await send('PATCH', '/settings', { auth_login_attempts: 3 })).status).to.equal(200);
      const person = { email: 'ann@example.com', password: 'correct horse' };
      expect((await send('POST', '/users', person)).status).to.equal(200);
      const client = new PageClient(service.url);
      const page = await client.get(LOGIN);
      for (let count = 0; count < 3; count++)
        expect((await client.submit(page, LOGIN, { ...person, password: 'wrong' })).status).to.equal(401);
      const reply = await client.submit(page, LOGIN, person);
      expect([reply.status, reply.problem]).to.deep.equal([401, 'This account is not active. Ask an administrator.']);
    } finally {
      await service.stop();
    }
  });

  it('answer a form that stalls with a page and 408', async () => {
    const service = await startService({ env: { STREAM_STALL_TIMEOUT: '300ms' } });
    try {
      const request = openRequest(service.url + LOGIN, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '100' },
      });
      request.on('error', () => {});
      request.write('email=');
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      expect([response.statusCode, response.headers['content-type']]).to.deep.equal([408, 'text/html; charset=utf-8']);
      expect(await text(response)).to.include('The form did not arrive in time.');
      request.destroy();
    } finally {
      await service.stop();
    }
  });
});
