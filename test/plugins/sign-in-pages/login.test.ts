import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import { PageClient } from './page-client.ts';
import { CODE, writeStandIns } from './stand-in-routes.ts';

const LOGIN = '/admin/login';

describe('GET and POST /admin/login', function () {
  this.timeout(60_000);
  let service: InProcessService;
  let standIns: Awaited<ReturnType<typeof writeStandIns>>;
  before(async () => {
    standIns = await writeStandIns();
    const env = { LOGIN_STALL_TIME: '300', LOG_LEVEL: 'info' };
    service = await startService({ env, pluginsBefore: standIns.composition.plugins as URL[] });
  });
  after(async () => {
    await service?.stop();
    await standIns?.remove();
  });

  const signIn = async (client: PageClient, password = service.admin.password, path = LOGIN) =>
    client.submit(await client.get(path), path, { email: service.admin.email, password });

  it('signs in by e-mail and password, sets the session cookie and redirects to /admin', async () => {
    const client = new PageClient(service.url);
    const reply = await signIn(client);
    expect([reply.status, new URL(reply.location ?? '', `${service.url}${LOGIN}`).pathname]).to.deep.equal([
      303,
      '/admin',
    ]);
    expect(client.cookies.get('service_refresh_token')).to.have.length.above(30);
    const start = await client.get('/admin');
    expect([start.status, start.title]).to.deep.equal([200, 'You are signed in']);
    expect(start.text).to.include(service.admin.email);
  });

  it('shows a wrong password as 401 after LOGIN_STALL_TIME, keeps the e-mail and no password', async () => {
    const client = new PageClient(service.url);
    const began = performance.now();
    const reply = await signIn(client, 'a wrong "password"');
    expect(performance.now() - began).to.be.above(290);
    expect([reply.status, reply.title]).to.deep.equal([401, 'Sign in']);
    expect(reply.problem).to.equal('The e-mail address or the password is not right. Check both and try again.');
    expect(reply.text).to.include(`value="${service.admin.email}"`).and.not.include('a wrong');
    expect(reply.text).to.include('href="#password"').and.include('aria-invalid="true"');
    expect(client.cookies.has('service_refresh_token')).to.equal(false);
  });

  it('answers an unknown e-mail exactly as a wrong password', async () => {
    const client = new PageClient(service.url);
    const page = await client.get(LOGIN);
    const wrong = await client.submit(page, LOGIN, { email: service.admin.email, password: 'x' });
    const unknown = await client.submit(page, LOGIN, { email: 'unknown@example.com', password: 'x' });
    const comparable = (text: string) => text.replaceAll(/value="[^"]*@example.com"/g, '');
    expect(unknown.status).to.equal(wrong.status);
    expect(comparable(unknown.text)).to.equal(comparable(wrong.text));
  });

  it('opens the path of ?redirect= after the sign-in, and at once for a browser that is signed in', async () => {
    const client = new PageClient(service.url);
    const path = `${LOGIN}?redirect=${encodeURIComponent('/graphql?query={a}#x')}`;
    expect((await signIn(client, undefined, path)).location).to.equal('/graphql?query={a}#x');
    const again = await client.get(path);
    expect([again.status, again.location]).to.deep.equal([303, '/graphql?query={a}#x']);
  });

  it('asks for a code after the password, without the password in page or cookie, and signs in by it', async () => {
    const client = new PageClient(service.url, { 'user-agent': 'needs code' });
    const codePage = await signIn(client);
    expect([codePage.status, codePage.title, codePage.problem]).to.deep.equal([200, 'Enter your code', undefined]);
    const held = `${codePage.text}${[...client.cookies.values()].join()}`;
    expect(held).to.not.include(service.admin.password).and.not.include(encodeURIComponent(service.admin.password));
    expect(held).to.not.include(Buffer.from(service.admin.password).toString('base64url').slice(0, -3));
    const wrong = await client.submit(codePage, LOGIN, { otp: '000000' });
    expect([wrong.status, wrong.title]).to.deep.equal([401, 'Enter your code']);
    expect(wrong.problem).to.match(/^This code is not right/);
    const right = await client.submit(wrong, LOGIN, { otp: ` ${CODE.slice(0, 3)} ${CODE.slice(3)} ` });
    expect(right.status).to.equal(303);
    expect(client.cookies.has('service_refresh_token')).to.equal(true);
  });

  it('accepts the sealed credentials of the first step from the browser that sent them only', async () => {
    const client = new PageClient(service.url, { 'user-agent': 'needs code' });
    const codePage = await signIn(client);
    const thief = new PageClient(service.url, { 'user-agent': 'needs code' });
    const token = /name="form_token" value="([^"]*)"/.exec((await thief.get(LOGIN)).text)?.[1] as string;
    const sealed = /name="sealed" value="([^"]*)"/.exec(codePage.text)?.[1] as string;
    const stolen = await thief.post(LOGIN, { form_token: token, sealed, otp: CODE });
    expect([stolen.status, stolen.title]).to.deep.equal([403, 'Sign in']);
    expect(stolen.problem).to.equal('This took too long. Please sign in again.');
    const changed = `${sealed.slice(0, -2)}${sealed.endsWith('AA') ? 'BB' : 'AA'}`;
    expect((await client.submit(codePage, LOGIN, { sealed: changed, otp: CODE })).status).to.equal(403);
    expect((await client.submit(codePage, LOGIN, { otp: CODE })).status).to.equal(303);
  });

  it('takes the code of a sign-in that began in another process, and shows the session in both', async () => {
    const { database } = service;
    const other = await startService({ database, pluginsBefore: standIns.composition.plugins as URL[] });
    try {
      const client = new PageClient(service.url, { 'user-agent': 'needs code' });
      const codePage = await signIn(client);
      const second = new PageClient(other.url, { 'user-agent': 'needs code' });
      for (const [name, value] of client.cookies) second.cookies.set(name, value);
      expect((await second.submit(codePage, LOGIN, { otp: CODE })).status).to.equal(303);
      client.cookies.set('service_refresh_token', second.cookies.get('service_refresh_token') as string);
      expect((await client.get('/admin')).title).to.equal('You are signed in');
      await second.submit(await second.get('/admin/logout'), '/admin/logout', {});
      expect((await client.get('/admin')).status).to.equal(303);
    } finally {
      await other.stop();
    }
  });

  it('shows providers: a link with the way back, a form of the schema, and a hidden button for passkeys', async () => {
    const { text } = await new PageClient(service.url).get(`${LOGIN}?redirect=/graphql`);
    const back = encodeURIComponent('/admin/login?redirect=%2Fgraphql');
    expect(text).to.include(`href="./../auth/login/acme?redirect=${back}"`);
    expect(text).to.include('Sign in with Acme &lt;b&gt;Cloud&lt;/b&gt;').and.not.include('<b>Cloud');
    expect(text).to.include('Sign in with Corporate ldap').and.include('name="credential.identifier"');
    expect(text).to.match(/<li hidden>[\s\S]*data-passkey=".\/..\/auth\/login\/passkey"/);
  });

  it('leads providers back below the path of PUBLIC_URL', async () => {
    const pluginsBefore = standIns.composition.plugins as URL[];
    const other = await startService({ env: { PUBLIC_URL: 'https://h.example/cms/' }, pluginsBefore });
    try {
      const { text } = await new PageClient(other.url).get(LOGIN);
      expect(text).to.include(`/auth/login/acme?redirect=${encodeURIComponent('/cms/admin/login')}"`);
    } finally {
      await other.stop();
    }
  });

  it('signs in by the form of a provider, and shows its failures at its fields', async () => {
    const { body } = await service.request('POST', '/users', {
      token: service.admin.token,
      body: { email: 'ann@example.com', provider: 'corporate_ldap', external_identifier: 'cn=ann' },
    });
    expect(body.data.id).to.be.a('string');
    const client = new PageClient(service.url);
    const page = await client.get(LOGIN);
    const form = (password: string) => ({ 'credential.identifier': 'ann', 'credential.password': password });
    const wrong = await client.submit(page, LOGIN, form('no'), 'value="corporate_ldap"');
    expect([wrong.status, wrong.title]).to.deep.equal([401, 'Sign in']);
    expect(wrong.text).to.include('<details open>').and.include('value="ann"');
    expect(wrong.text).to.include('href="#corporate_ldap-password"');
    const right = await client.submit(wrong, LOGIN, form('directory password'), 'value="corporate_ldap"');
    expect(right.status).to.equal(303);
    expect((await client.get('/admin')).title).to.equal('You are signed in');
  });

  it('shows sentences of known codes for ?reason= and known words for ?notice=, and nothing for others', async () => {
    const client = new PageClient(service.url);
    expect((await client.get(`${LOGIN}?reason=INVALID_PROVIDER`)).problem).to.match(
      /^Your account does not sign in this way/,
    );
    for (const reason of ['<script>alert(1)</script>', 'constructor', '__proto__', 'Call+0800', ''])
      expect((await client.get(`${LOGIN}?reason=${reason}`)).problem, reason).to.equal(undefined);
    expect((await client.get(`${LOGIN}?notice=signed-out`)).text).to.include('You are signed out.');
    expect((await client.get(`${LOGIN}?notice=toString`)).text).to.not.include('class="notice"');
  });

  it('signs out by a form, ends the session, and does nothing for GET /admin/logout', async () => {
    const client = new PageClient(service.url);
    await signIn(client);
    const page = await client.get('/admin/logout');
    expect((await client.get('/admin')).status).to.equal(200);
    const cookie = client.cookies.get('service_refresh_token') as string;
    const reply = await client.submit(page, '/admin/logout', {});
    expect(reply.status).to.equal(303);
    expect(client.cookies.has('service_refresh_token')).to.equal(false);
    const old = await service.request('POST', '/auth/refresh', { body: { refresh_token: cookie } });
    expect(old.status).to.equal(401);
    const start = await client.get('/admin');
    expect([start.status, start.location]).to.deep.equal([303, './admin/login']);
  });

  it('writes no password, code or form token into the log', async () => {
    const client = new PageClient(service.url);
    await signIn(client, 'secret-in-no-log');
    expect(JSON.stringify(service.log))
      .to.not.include('secret-in-no-log')
      .and.not.include(client.cookies.get('service_form_token'));
    expect(service.log.some(({ path }) => path === LOGIN)).to.equal(true);
  });
});

describe('GET /admin/login with AUTH_DISABLE_DEFAULT', function () {
  this.timeout(60_000);
  it('shows no form for e-mail and password, and refuses a posted one', async () => {
    const service = await startService({ env: { AUTH_DISABLE_DEFAULT: 'true' } });
    try {
      const client = new PageClient(service.url);
      const page = await client.get(LOGIN);
      expect(page.text).to.not.include('name="password"');
      expect(page.text).to.include('There is no way to sign in here');
      const signOut = await client.get('/admin/logout');
      const reply = await client.submit(signOut, LOGIN, { email: 'a@example.com', password: 'x' });
      expect([reply.status, reply.problem]).to.deep.equal([404, 'This is not available here.']);
    } finally {
      await service.stop();
    }
  });
});
