import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { withClockAhead } from '../../support/clock.ts';
import { type SamlIdentityProvider, startSamlIdentityProvider } from '../../support/saml-identity-provider.ts';
import { until } from '../../support/until.ts';
import { samlSettings, signInAt } from '../auth-saml/saml-fixture.ts';
import { openIdSettings, type ProviderFixture, startProviderFixture } from './provider-fixture.ts';

const MINUTE = 60_000;

describe('sign-in providers that change while the service runs', function () {
  this.timeout(120_000);
  let fixture: ProviderFixture;
  let idp: SamlIdentityProvider;
  before(async () => {
    idp = await startSamlIdentityProvider();
    fixture = await startProviderFixture({
      providers: (server) => ({
        ...openIdSettings('renewed', server, { ALLOW_PUBLIC_REGISTRATION: 'true' }),
        ...samlSettings(idp, { IDP_metadata: '', IDP_METADATA_URL: idp.metadataUrl }),
      }),
    });
    idp.spMetadataUrl = `${fixture.service.url}/auth/login/corp/metadata`;
  });
  after(async () => {
    await fixture?.stop();
    await idp?.stop();
  });

  let count = 0;
  async function signIn(provider: string) {
    const name = `renewed-${++count}`;
    fixture.server.user = { sub: name, email: `${name}@example.com` };
    return fixture.signIn(provider);
  }
  const countOf = (request: string) => fixture.server.requests.filter((one) => one === request).length;

  it('sign in by a new signing key of an OpenID provider, without a restart', async () => {
    expect((await signIn('oidc')).status).to.equal(200);
    fixture.server.rotateKeys();
    // Keys are fetched again a minute after the last time, at the earliest.
    await withClockAhead(2 * MINUTE, async () => {
      const { status, body } = await signIn('oidc');
      expect(status, JSON.stringify(body)).to.equal(200);
    });
  });

  it('refuse an ID token by the key that the provider no longer has', async () => {
    const { privateKey } = fixture.server;
    fixture.server.rotateKeys();
    fixture.server.faults = { sign: (claims) => jwt.sign(claims, privateKey, { algorithm: 'RS256', keyid: 'key 2' }) };
    try {
      await withClockAhead(10 * MINUTE, async () => {
        expect((await signIn('oidc')).code).to.equal('INVALID_CREDENTIALS');
      });
    } finally {
      fixture.server.faults = {};
    }
  });

  it('have their discovery document fetched again after an hour, beside the sign-in', async () => {
    const path = 'GET /.well-known/openid-configuration';
    expect((await signIn('renewed')).status).to.equal(200);
    const before = countOf(path);
    expect((await signIn('renewed')).status).to.equal(200);
    expect(countOf(path)).to.equal(before);
    await withClockAhead(61 * MINUTE, async () => {
      expect((await signIn('renewed')).status).to.equal(200);
      await until(async () => countOf(path) === before + 1);
    });
  });

  it('go on by the last document while the provider answers none, for a day', async () => {
    fixture.server.faults = {
      answer: { '/.well-known/openid-configuration': (response) => void response.writeHead(500).end() },
    };
    try {
      await withClockAhead(20 * 60 * MINUTE, async () => {
        expect((await signIn('renewed')).status).to.equal(200);
      });
      await withClockAhead(30 * 60 * MINUTE, async () => {
        expect((await signIn('renewed')).code).to.equal('SERVICE_UNAVAILABLE');
      });
    } finally {
      fixture.server.faults = {};
    }
  });

  it('have the metadata of SAML fetched again after ten minutes', async () => {
    const signInBySaml = () => signInAt(fixture.service.url, idp, { name: `renewed-${++count}` });
    expect((await signInBySaml()).status).to.equal(200);
    const before = idp.metadataRequests;
    expect((await signInBySaml()).status).to.equal(200);
    expect(idp.metadataRequests).to.equal(before);
    // The begin renews them. The rest of the sign-in is at the time that its assertion is for.
    await withClockAhead(11 * MINUTE, async () => {
      await fixture.service.request('GET', '/auth/login/corp');
      await until(async () => idp.metadataRequests === before + 1);
    });
  });
});

describe('cookies of a sign-in by redirect', function () {
  this.timeout(120_000);

  /** The cookies that begin and callback set, as `name; attributes`. */
  async function cookiesOf(env: Record<string, string>): Promise<Record<string, string>> {
    const fixture = await startProviderFixture({ env });
    const cookies: Record<string, string> = {};
    try {
      fixture.server.user = { sub: 'ann', email: 'ann@example.com' };
      const { url } = fixture.service;
      const keep = (response: Response) => {
        for (const line of response.headers.getSetCookie()) {
          const [, name = '', attributes = ''] = /^([^=]+)=[^;]*; (.*)$/.exec(line) ?? [];
          if (!attributes.includes('Max-Age=0')) cookies[name] = attributes;
        }
        return response;
      };
      const begin = keep(await fetch(`${url}/auth/login/oidc?redirect=/`, { redirect: 'manual' }));
      const cookie = begin.headers.get('set-cookie')?.split(';')[0] as string;
      const provider = await fetch(begin.headers.get('location') as string, { redirect: 'manual' });
      const { pathname, search } = new URL(provider.headers.get('location') as string);
      const end = keep(await fetch(`${url}${pathname}${search}`, { redirect: 'manual', headers: { cookie } }));
      expect(end.status).to.equal(302);
      return cookies;
    } finally {
      await fixture.stop();
    }
  }

  it('are sent by https only where PUBLIC_URL is https, the session as REFRESH_TOKEN_COOKIE_SECURE says', async () => {
    const cookies = await cookiesOf({ PUBLIC_URL: 'https://content.example.com', REFRESH_TOKEN_COOKIE_SECURE: 'true' });
    for (const name of ['service_sign_in_oidc', 'service_refresh_token', 'service_sign_out_oidc'])
      expect(cookies[name], name).to.contain('HttpOnly').and.to.contain('Secure');
  });
  it('are sent without https where COOKIE_SECURE is false', async () => {
    const cookies = await cookiesOf({ PUBLIC_URL: 'https://content.example.com', AUTH_OIDC_COOKIE_SECURE: 'false' });
    expect(cookies.service_sign_in_oidc).to.contain('HttpOnly').and.not.to.contain('Secure');
  });
  it('are sent by https only where COOKIE_SECURE is true and PUBLIC_URL is http', async () => {
    const cookies = await cookiesOf({ AUTH_OIDC_COOKIE_SECURE: 'true' });
    expect(cookies.service_sign_in_oidc).to.contain('Secure');
    expect(cookies.service_refresh_token).not.to.contain('Secure');
  });
});
