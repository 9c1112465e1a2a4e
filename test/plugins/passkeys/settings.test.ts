import { expect } from 'chai';
import { createSender, type InProcessService, startService } from '../../support/service.ts';
import { createSoftwareAuthenticator } from '../../support/software-authenticator.ts';
import { captureError } from '../../support/test-plugins.ts';
import { statusAndCodeOf } from '../users/test-users.ts';
import { beginSignIn, createSignedInUser, PASSKEY_SETTINGS } from './passkey-fixture.ts';

describe('the settings of passkeys', function () {
  this.timeout(120_000);
  let service: InProcessService | undefined;
  const start = async (env: Record<string, string>) => {
    service = await startService({ env });
    return service.request;
  };
  afterEach(async () => {
    await service?.stop();
    service = undefined;
  });
  /** Whether there is a driver: without one its route is unknown. */
  const isOffered = async (request: InProcessService['request']) =>
    (await request('POST', '/auth/login/passkey', { body: {} })).status !== 404;

  it('take domain and origin from PUBLIC_URL', async () => {
    const request = await start({ PUBLIC_URL: 'https://cms.example.com/api' });
    expect((await beginSignIn(request)).rpId).to.equal('cms.example.com');
    expect(await isOffered(request)).to.equal(true);
    const { passkey, reply } = await registerFrom(
      service as InProcessService,
      'https://cms.example.com',
      'cms.example.com',
    );
    expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
    expect(passkey.userHandle).to.have.length(22);
  });

  it('mean localhost with the port of the service where PUBLIC_URL is not absolute, whatever Host a client sends', async () => {
    const request = await start({ PUBLIC_URL: '/' });
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example' };
    const reply = await request('POST', '/auth/login/passkey/options', { headers });
    expect(reply.body.data.rpId).to.equal('localhost');
    const evil = await registerFrom(service as InProcessService, 'http://evil.example', 'localhost');
    expect(statusAndCodeOf(evil.reply)).to.deep.equal([400, 'INVALID_PAYLOAD']);
    const own = await registerFrom(service as InProcessService, 'http://localhost:0', 'localhost');
    expect(own.reply.status, JSON.stringify(own.reply.body)).to.equal(200);
  });

  it('allow several origins below the domain', async () => {
    await start({
      PASSKEYS_RP_ID: 'example.com',
      PASSKEYS_ORIGINS: 'https://a.example.com, https://example.com:8443,android:apk-key-hash:abc_-1',
    });
    for (const origin of ['https://a.example.com', 'https://example.com:8443', 'android:apk-key-hash:abc_-1']) {
      const { reply } = await registerFrom(service as InProcessService, origin, 'example.com');
      expect(reply.status, origin).to.equal(200);
    }
    const { reply } = await registerFrom(service as InProcessService, 'https://b.example.com', 'example.com');
    expect(statusAndCodeOf(reply)).to.deep.equal([400, 'INVALID_PAYLOAD']);
  });

  for (const PUBLIC_URL of ['http://127.0.0.1:8055', 'https://[::1]', 'http://cms.example.com', 'https://10.1']) {
    it(`answer INVALID_CONFIG and list no driver where PUBLIC_URL is ${PUBLIC_URL}, for which browsers have no passkeys`, async () => {
      const request = await start({ PUBLIC_URL });
      expect(await isOffered(request)).to.equal(false);
      const options = await request('POST', '/auth/login/passkey/options');
      expect(statusAndCodeOf(options)).to.deep.equal([503, 'INVALID_CONFIG']);
      expect(options.body.errors[0].message).to.match(/^Passkeys do not work here: /);
      const login = await request('POST', '/auth/login/passkey', { body: {} });
      expect(statusAndCodeOf(login)).to.deep.equal([404, 'ROUTE_NOT_FOUND']);
      const { token, password } = await createSignedInUser(service as InProcessService);
      const begin = await request('POST', '/users/me/passkeys/options', { token, body: { password } });
      expect(statusAndCodeOf(begin)).to.deep.equal([503, 'INVALID_CONFIG']);
      expect((await request('GET', '/users/me/passkeys', { token })).body.data).to.deep.equal([]);
    });
  }

  for (const [env, reason] of [
    [{ PASSKEYS_RP_ID: '127.0.0.1' }, /no domain name/],
    [{ PASSKEYS_RP_ID: 'https://example.com' }, /no domain name/],
    [{ PASSKEYS_RP_ID: 'example.com' }, /get no passkeys of example\.com/],
    [{ PASSKEYS_RP_ID: 'example.com', PASSKEYS_ORIGINS: 'https://example.com/' }, /is no origin/],
    [{ PASSKEYS_RP_ID: 'example.com', PASSKEYS_ORIGINS: '*' }, /is no origin/],
    [{ PASSKEYS_RP_ID: 'example.com', PASSKEYS_ORIGINS: 'null' }, /is no origin/],
    [{ PASSKEYS_RP_ID: 'example.com', PASSKEYS_ORIGINS: 'http://example.com' }, /https and of localhost only/],
    [{ PASSKEYS_RP_ID: 'example.com', PASSKEYS_ORIGINS: 'https://notexample.com' }, /get no passkeys/],
    [{ PASSKEYS_RP_ID: 'a.example.com', PASSKEYS_ORIGINS: 'https://example.com' }, /get no passkeys/],
  ] as const) {
    it(`stop the start with ${JSON.stringify(env)}`, async () => {
      const { message } = await captureError(start(env));
      expect(message).to.match(reason);
    });
  }

  it('turn everything off with PASSKEYS_ENABLED=false, whatever the others are', async () => {
    const request = await start({ PASSKEYS_ENABLED: 'false', PASSKEYS_RP_ID: '127.0.0.1' });
    expect(await isOffered(request)).to.equal(false);
    const { admin, url } = service as InProcessService;
    const { token } = admin;
    // Routes that are off contradict their descriptions.
    const send = createSender(url);
    for (const [method, path] of [
      ['POST', '/auth/login/passkey/options'],
      ['POST', '/auth/login/passkey'],
      ['POST', '/users/me/passkeys/options'],
      ['GET', '/users/me/passkeys'],
    ] as const)
      expect(statusAndCodeOf(await send(method, path, { token })), path).to.deep.equal([404, 'ROUTE_NOT_FOUND']);
  });

  it('delay a failed sign-in and a failed confirmation by LOGIN_STALL_TIME', async () => {
    const request = await start({ ...PASSKEY_SETTINGS, LOGIN_STALL_TIME: '300' });
    const { token } = await createSignedInUser(service as InProcessService);
    for (const [path, options] of [
      ['/auth/login/passkey', { body: {} }],
      ['/users/me/passkeys/options', { token, body: { password: 'wrong' } }],
    ] as const) {
      const started = performance.now();
      expect((await request('POST', path, options)).status, path).to.be.within(400, 401);
      expect(performance.now() - started, path).to.be.at.least(298);
    }
  });
});

/** Registers a passkey from a page of this origin. */
async function registerFrom(service: InProcessService, origin: string, rpId: string) {
  const { request } = service;
  const { token, password } = await createSignedInUser(service);
  const options = await request('POST', '/users/me/passkeys/options', { token, body: { password } });
  const { passkey, credential } = createSoftwareAuthenticator(origin, rpId).register(options.body.data);
  return { passkey, reply: await request('POST', '/users/me/passkeys', { token, body: { credential } }) };
}
