import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import { PageClient } from './page-client.ts';
import { writeStandIns } from './stand-in-routes.ts';

describe('pages that links in mails lead to', function () {
  this.timeout(60_000);
  let service: InProcessService;
  let standIns: Awaited<ReturnType<typeof writeStandIns>>;
  before(async () => {
    standIns = await writeStandIns();
    service = await startService({ env: { LOG_LEVEL: 'info' }, pluginsBefore: standIns.composition.plugins as URL[] });
  });
  beforeEach(() => void standIns.state.received.splice(0));
  after(async () => {
    await service?.stop();
    await standIns?.remove();
  });

  const RESET = '/admin/reset-password';
  const INVITE = '/admin/accept-invite';
  const VERIFY = '/admin/verify-email';
  const passwords = (password: string, again = password) => ({ password, password_again: again });

  describe(RESET, () => {
    it('passes an address on to POST /auth/password/request, and shows the same page for every address', async () => {
      const client = new PageClient(service.url, { 'user-agent': 'a browser' });
      const page = await client.get(RESET);
      const one = await client.submit(page, RESET, { email: 'ann@example.com' });
      const other = await client.submit(page, RESET, { email: 'unknown@example.com' });
      expect([one.status, one.title]).to.deep.equal([200, 'Check your mail']);
      expect(other.text).to.equal(one.text);
      expect(standIns.state.received[0]).to.deep.equal({
        path: '/auth/password/request',
        body: { email: 'ann@example.com' },
        query: '',
        userAgent: 'a browser',
      });
    });

    it('shows a refused address at its field and keeps it', async () => {
      const client = new PageClient(service.url);
      const reply = await client.submit(await client.get(RESET), RESET, { email: 'no address' });
      expect([reply.status, reply.problem]).to.deep.equal([400, 'This is not an e-mail address.']);
      expect(reply.text).to.include('value="no address"').and.include('href="#email"');
    });

    it('asks for a new password by the link, spends nothing by opening it, and saves the password', async () => {
      const client = new PageClient(service.url);
      const page = await client.get(`${RESET}?token=good`);
      expect([page.status, page.title]).to.deep.equal([200, 'Choose a new password']);
      expect(standIns.state.received).to.deep.equal([]);
      const reply = await client.submit(page, RESET, passwords('a new password'));
      expect([reply.status, reply.location]).to.deep.equal([303, './../admin/login?notice=password-changed']);
      expect(standIns.state.received[0]?.body).to.deep.equal({ token: 'good', password: 'a new password' });
    });

    it('shows two passwords that differ, and one against the password rule, and keeps the token', async () => {
      const client = new PageClient(service.url);
      const page = await client.get(`${RESET}?token=good`);
      const differ = await client.submit(page, RESET, passwords('one password', 'another'));
      expect([differ.status, differ.problem]).to.deep.equal([400, 'The two passwords are not the same.']);
      expect(standIns.state.received).to.deep.equal([]);
      const weak = await client.submit(differ, RESET, passwords('weak'));
      expect(weak.status).to.equal(400);
      expect(weak.problem).to.match(/^This password does not follow the password rule/);
      expect(weak.text).to.not.include('value="weak"');
      expect((await client.submit(weak, RESET, passwords('a better one'))).status).to.equal(303);
    });

    for (const [token, status] of [
      ['expired', 401],
      ['of another user', 403],
    ] as const)
      it(`shows a link with the token "${token}" as not valid, with status ${status}, and a way to a new one`, async () => {
        const client = new PageClient(service.url);
        const page = await client.get(`${RESET}?token=${encodeURIComponent(token)}`);
        const reply = await client.submit(page, RESET, passwords('a new password'));
        expect([reply.status, reply.title]).to.deep.equal([status, 'This link is not valid any more']);
        expect(reply.text).to.include('Ask for a new link');
      });
  });

  describe(INVITE, () => {
    it('sets the password of an invited user by POST /users/invite/accept', async () => {
      const client = new PageClient(service.url);
      const page = await client.get(`${INVITE}?token=good`);
      expect([page.title, standIns.state.received.length]).to.deep.equal(['Welcome', 0]);
      const weak = await client.submit(page, INVITE, passwords('weak'));
      expect(weak.status).to.equal(400);
      const reply = await client.submit(weak, INVITE, passwords('my first password'));
      expect([reply.status, reply.location]).to.deep.equal([303, './../admin/login?notice=invitation-accepted']);
      expect(standIns.state.received.at(-1)).to.deep.include({
        path: '/users/invite/accept',
        body: { token: 'good', password: 'my first password' },
      });
    });

    it('shows a link without token as not valid with status 400, and one with a wrong token as 403', async () => {
      const client = new PageClient(service.url);
      const missing = await client.get(INVITE);
      expect([missing.status, missing.title]).to.deep.equal([400, 'This link is not valid any more']);
      const page = await client.get(`${INVITE}?token=wrong`);
      expect((await client.submit(page, INVITE, passwords('x'))).status).to.equal(403);
    });

    it('shows an invitation that was accepted before as not valid, and an empty password at its field', async () => {
      const client = new PageClient(service.url);
      const page = await client.get(`${INVITE}?token=used`);
      const empty = await client.submit(page, INVITE, passwords(''));
      expect([empty.status, empty.problem]).to.deep.equal([400, 'Enter a password.']);
      const used = await client.submit(page, INVITE, passwords('my first password'));
      expect([used.status, used.title]).to.deep.equal([400, 'This link is not valid any more']);
    });
  });

  describe(VERIFY, () => {
    it('confirms the address by a button and not by opening the link', async () => {
      const client = new PageClient(service.url);
      const page = await client.get(`${VERIFY}?token=good`);
      expect([page.title, standIns.state.received.length]).to.deep.equal(['Confirm your e-mail address', 0]);
      const reply = await client.submit(page, VERIFY, {});
      expect([reply.status, reply.location]).to.deep.equal([303, './../admin/login?notice=email-verified']);
      expect(standIns.state.received).to.deep.include({
        path: '/users/register/verify-email',
        body: undefined,
        query: 'token=good',
        userAgent: standIns.state.received[0]?.userAgent,
      });
    });

    it('passes a token with special characters on as one parameter, and shows a wrong one as not valid', async () => {
      const client = new PageClient(service.url);
      const page = await client.get(`${VERIFY}?token=${encodeURIComponent('a&token=good#"<')}`);
      const reply = await client.submit(page, VERIFY, { token: 'a&token=good#"<' });
      expect([reply.status, reply.title]).to.deep.equal([403, 'This link is not valid any more']);
      expect(standIns.state.received[0]?.query).to.equal('token=a%26token%3Dgood%23%22%3C');
    });
  });

  it('write no token of a link into the log', async () => {
    const client = new PageClient(service.url);
    for (const path of [RESET, INVITE, VERIFY]) {
      const page = await client.get(`${path}?token=token-of-a-link`);
      await client.submit(page, path, passwords('x'));
      await client.get(`${path}?%74oken=token-of-a-link`);
    }
    expect(service.log.filter(({ path }) => String(path).startsWith(RESET))).to.have.length.above(2);
    expect(JSON.stringify(service.log)).to.not.include('token-of-a-link');
  });
});
