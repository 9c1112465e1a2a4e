import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { expect } from 'chai';
import { findFreePort } from '../../support/free-port.ts';
import { GCM_ENCRYPTION, startSamlIdentityProvider } from '../../support/saml-identity-provider.ts';
import { FOREIGN_CERTIFICATE, FOREIGN_KEY, IDP_CERTIFICATE, SP_CERTIFICATE, SP_KEY } from '../../support/saml-keys.ts';
import { until } from '../../support/until.ts';
import { type SamlFixture, signInAt, startSamlFixture, startSamlService, usersOf, xmlOf } from './saml-fixture.ts';

const MEMBER = '00000000-0000-4000-8000-00000000000a';
const EDITOR = '00000000-0000-4000-8000-00000000000b';

describe('sign-in by the driver saml', () => {
  let fixture: SamlFixture;
  before(async function () {
    this.timeout(120_000);
    fixture = await startSamlFixture({
      DEFAULT_ROLE_ID: MEMBER,
      ROLE_MAPPING: JSON.stringify({ editors: EDITOR }),
      LABEL: 'Example Corp.',
    });
    const { request, admin } = fixture.service;
    for (const [id, name] of [
      [MEMBER, 'Members'],
      [EDITOR, 'Editors'],
    ])
      await request('POST', '/roles', { token: admin.token, body: { id, name, app_access: true } });
  });
  after(() => fixture?.stop());

  it('registers a user at the first sign-in and finds the same one at the second', async () => {
    const user = {
      name: 'ann',
      email: 'ann@example.com',
      attributes: { givenName: 'Ann', 'urn:oid:2.5.4.4': 'Archer' },
    };
    const first = await fixture.signIn(user);
    expect(first.status, JSON.stringify(first.body)).to.equal(200);
    const [row] = await usersOf(fixture.database, 'ann');
    expect(row).to.include({
      provider: 'corp',
      email: 'ann@example.com',
      first_name: 'Ann',
      last_name: 'Archer',
      role: MEMBER,
    });
    const second = await fixture.signIn(user);
    expect(second.status).to.equal(200);
    expect((await usersOf(fixture.database, 'ann')).map(({ id }) => id)).to.deep.equal([row?.id]);
    const me = await fixture.service.request('GET', '/users/me?fields=id', { token: second.body.data.access_token });
    expect(me.body.data).to.deep.equal({ id: row?.id });
  });

  it('moves the role with the groups of the assertion', async () => {
    const roleAfter = async (groups: readonly string[]) => {
      expect((await fixture.signIn({ name: 'bob', email: 'bob@example.com', groups })).status).to.equal(200);
      return (await usersOf(fixture.database, 'bob'))[0]?.role;
    };
    expect(await roleAfter(['staff', 'editors'])).to.equal(EDITOR);
    expect(await roleAfter(['staff'])).to.equal(MEMBER);
  });

  it('ends at an allowed redirect with the cookie of the session', async () => {
    const { status, location, body, browser } = await fixture.signIn(
      { name: 'cid' },
      { query: `?redirect=${encodeURIComponent('https://app.example.com/done?at=1')}` },
    );
    expect([status, location, body]).to.deep.equal([302, 'https://app.example.com/done?at=1', undefined]);
    const refreshed = await browser.send(`${fixture.service.url}/auth/refresh`, { method: 'POST' });
    expect(refreshed.status).to.equal(200);
  });

  it('answers the refresh token in the cookie in mode cookie, and in the body in mode json', async () => {
    const cookie = await fixture.signIn({ name: 'dan' }, { query: '?mode=cookie' });
    expect(cookie.body.data).to.have.all.keys('access_token', 'expires');
    expect((await cookie.browser.send(`${fixture.service.url}/auth/refresh`, { method: 'POST' })).status).to.equal(200);
    const json = await fixture.signIn({ name: 'dan' }, { query: '?mode=json' });
    expect(json.body.data).to.have.all.keys('access_token', 'refresh_token', 'expires');
  });

  it('makes one user of simultaneous first sign-ins', async () => {
    const replies = await Promise.all(Array.from({ length: 6 }, () => fixture.signIn({ name: 'eve' })));
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200, 200]);
    expect(await usersOf(fixture.database, 'eve')).to.have.lengthOf(1);
  });

  it('serves metadata with its entity id, and the addresses for responses and logouts', async () => {
    const response = await fetch(`${fixture.service.url}/auth/login/corp/metadata`);
    expect(response.headers.get('content-type')).to.match(/^application\/samlmetadata\+xml/);
    const xml = await response.text();
    for (const part of ['metadata', 'acs', 'logout']) expect(xml).to.contain(`/auth/login/corp/${part}"`);
    expect(xml).to.not.contain('KeyDescriptor');
  });

  it('counts forms that have not arrived like other bodies', async () => {
    const { request, admin, url } = fixture.service;
    const { hostname, port } = new URL(url);
    const held = async () => {
      const { body } = await request('GET', '/server/health', { token: admin.token });
      return body.checks['http:unfinishedBodies'][0].observedValue;
    };
    const socket = connect(Number(port), hostname);
    socket.write(
      [
        'POST /auth/login/corp/acs HTTP/1.1',
        'Host: x',
        'Content-Type: application/x-www-form-urlencoded',
        'Content-Length: 300000',
        '',
        `SAMLResponse=${'a'.repeat(200_000)}`,
      ].join('\r\n'),
    );
    await until(async () => (await held()) > 200_000);
    socket.destroy();
    await until(async () => (await held()) === 0);
  });

  it('has its routes for no other name', async () => {
    const { request } = fixture.service;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const [method, path] of [
      ['GET', '/auth/login/other/metadata'],
      ['POST', '/auth/login/other/acs'],
      ['POST', '/auth/login/other/logout'],
      ['POST', '/auth/login/corp/callback'],
      ['POST', '/auth/login/corp'],
    ] as const)
      expect(
        (await request(method, path, { headers, ...(method === 'POST' ? { body: 'a=b' } : {}) })).status,
        path,
      ).to.equal(404);
  });

  it('asks for a new sign-in with prompt=login, and for none with prompt=none', async () => {
    const requestOf = async (prompt: string) => {
      const url = `${fixture.service.url}/auth/login/corp?prompt=${prompt}`;
      const location = (await fetch(url, { redirect: 'manual' })).headers.get('location') as string;
      const text = new URL(location).searchParams.get('SAMLRequest') as string;
      return inflateRawSync(Buffer.from(text, 'base64')).toString();
    };
    expect(await requestOf('login')).to.contain('ForceAuthn="true"');
    expect(await requestOf('none')).to.contain('IsPassive="true"');
  });
});

describe('the settings of a provider with the driver saml', () => {
  let fixture: SamlFixture | undefined;
  afterEach(async () => {
    await fixture?.stop();
    fixture = undefined;
  });
  const keys = { SP_PRIVATE_KEY: SP_KEY, SP_CERTIFICATE: SP_CERTIFICATE };

  it('SP_PRIVATE_KEY signs requests and decrypts assertions', async () => {
    fixture = await startSamlFixture({ ...keys, SP_WANT_ASSERTIONS_SIGNED: 'true' });
    fixture.idp.encrypts = true;
    let signature: string | null = null;
    const reply = await fixture.signIn(
      { name: 'ann' },
      {
        change(form, request) {
          signature = request.searchParams.get('Signature');
          return form;
        },
      },
    );
    expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
    expect(signature).to.be.a('string');
    expect(xmlOf(reply.form)).to.contain('EncryptedAssertion').and.not.contain('>ann<');
  });

  const CBC = { ...GCM_ENCRYPTION, data: 'http://www.w3.org/2001/04/xmlenc#aes256-cbc' };
  const RSA_1_5 = { ...GCM_ENCRYPTION, key: 'http://www.w3.org/2001/04/xmlenc#rsa-1_5' };
  for (const [what, encryption, wantAssertionsSigned, refusal] of [
    ['an assertion that GCM encrypts, in a signed response', GCM_ENCRYPTION, 'false', undefined],
    ['an assertion that CBC encrypts, in a signed response', CBC, 'false', undefined],
    ['a signed assertion that CBC encrypts, in a response that is not signed', CBC, 'true', '401 INVALID_CREDENTIALS'],
    ['a key that RSA 1.5 encrypts', RSA_1_5, 'false', '401 INVALID_CREDENTIALS'],
  ] as const) {
    it(`SP_PRIVATE_KEY ${refusal ? 'refuses' : 'decrypts'} ${what}`, async () => {
      fixture = await startSamlFixture({ ...keys, SP_WANT_ASSERTIONS_SIGNED: wantAssertionsSigned });
      Object.assign(fixture.idp, { encrypts: true, encryption });
      const reply = await fixture.signIn({ name: 'ann' });
      expect(xmlOf(reply.form)).to.contain(encryption.data).and.contain(encryption.key);
      expect([reply.status, reply.refusal]).to.deep.equal([refusal ? 401 : 200, refusal]);
    });
  }

  it('SP_WANT_ASSERTIONS_SIGNED and SP_WANT_RESPONSES_SIGNED refuse what is signed otherwise', async () => {
    fixture = await startSamlFixture({ SP_WANT_ASSERTIONS_SIGNED: 'true', SP_WANT_RESPONSES_SIGNED: 'true' });
    // The identity provider signs the assertion, since the metadata ask for it, and nothing else.
    expect((await fixture.signIn({ name: 'ann' })).refusal).to.equal('401 INVALID_CREDENTIALS');
    await fixture.stop();
    fixture = await startSamlFixture({ SP_WANT_ASSERTIONS_SIGNED: 'true' });
    expect((await fixture.signIn({ name: 'ann' })).status).to.equal(200);
  });

  it('IDENTIFIER_KEY, EMAIL_KEY, GIVEN_NAME_KEY and FAMILY_NAME_KEY name attributes', async () => {
    fixture = await startSamlFixture({
      IDENTIFIER_KEY: 'employee',
      EMAIL_KEY: 'address',
      GIVEN_NAME_KEY: 'first',
      FAMILY_NAME_KEY: 'last',
    });
    const attributes = { employee: '7', address: 'Ann@example.com', first: 'A', last: 'B' };
    expect((await fixture.signIn({ name: 'other each time', attributes })).status).to.equal(200);
    expect((await usersOf(fixture.database, '7'))[0]).to.include({
      email: 'Ann@example.com',
      first_name: 'A',
      last_name: 'B',
    });
    expect((await fixture.signIn({ name: 'x', attributes: { address: 'x@example.com' } })).refusal).to.equal(
      '401 INVALID_CREDENTIALS',
    );
  });

  it('SP_metadata are served in place of the generated ones, and their entityID counts', async () => {
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}`;
    const metadata = `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="urn:example:service"><SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><AssertionConsumerService index="0" Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${url}/auth/login/corp/acs"/></SPSSODescriptor></EntityDescriptor>`;
    fixture = await startSamlFixture({ SP_metadata: metadata }, { env: { PORT: String(port), PUBLIC_URL: url } });
    fixture.idp.spMetadataUrl = `${url}/auth/login/corp/metadata`;
    expect(await (await fetch(fixture.idp.spMetadataUrl)).text()).to.equal(metadata);
    const reply = await fixture.signIn({ name: 'ann' });
    expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
    expect(xmlOf(reply.form)).to.contain('<saml:Audience>urn:example:service<');
  });

  it('IDP_metadata_FILE may change while the service runs', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tenon-saml-'));
    const file = join(folder, 'idp.xml');
    const idp = await startSamlIdentityProvider();
    try {
      const certificate = (pem: string) => pem.replace(/-----[^-]+-----|\s/g, '');
      await writeFile(file, idp.metadata.replace(certificate(IDP_CERTIFICATE), certificate(FOREIGN_CERTIFICATE)));
      const service = await startSamlService(idp, { IDP_metadata: '', IDP_metadata_FILE: file });
      try {
        expect((await signInAt(service.url, idp, { name: 'ann' })).refusal).to.equal('401 INVALID_CREDENTIALS');
        await writeFile(file, idp.metadata);
        expect((await signInAt(service.url, idp, { name: 'ann' })).status).to.equal(200);
      } finally {
        await service.stop();
      }
    } finally {
      await idp.stop();
      await rm(folder, { recursive: true });
    }
  });

  it('SP_PRIVATE_KEY_FILE and SP_CERTIFICATE_FILE may change while the service runs', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tenon-saml-'));
    const files = {
      SP_PRIVATE_KEY_FILE: join(folder, 'key.pem'),
      SP_CERTIFICATE_FILE: join(folder, 'certificate.pem'),
    };
    const write = async (key: string, certificate: string) => {
      await writeFile(files.SP_PRIVATE_KEY_FILE, key);
      await writeFile(files.SP_CERTIFICATE_FILE, certificate);
    };
    try {
      await write(SP_KEY, SP_CERTIFICATE);
      fixture = await startSamlFixture(files);
      Object.assign(fixture.idp, { encrypts: true });
      expect((await fixture.signIn({ name: 'ann' })).status).to.equal(200);
      await write(FOREIGN_KEY, SP_CERTIFICATE);
      const { status, body } = await fixture.service.request('GET', '/auth/login/corp');
      expect([status, body.errors[0].extensions.code]).to.deep.equal([503, 'INVALID_CONFIG']);
      await write(FOREIGN_KEY, FOREIGN_CERTIFICATE);
      // The identity provider verifies the request, and encrypts, by the new certificate.
      expect((await fixture.signIn({ name: 'ann' })).status).to.equal(200);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  const wrong: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'set either AUTH_CORP_IDP_metadata or AUTH_CORP_IDP_METADATA_URL': { IDP_metadata: '' },
    'AUTH_CORP_IDP_METADATA_URL is no address that begins with https://': {
      IDP_metadata: '',
      IDP_METADATA_URL: 'http://idp.example.com/metadata',
    },
    'the metadata of AUTH_CORP_IDP_metadata cannot be used': { IDP_metadata: '<a/>' },
    'set both AUTH_CORP_SP_PRIVATE_KEY and AUTH_CORP_SP_CERTIFICATE': { SP_PRIVATE_KEY: SP_KEY },
    'AUTH_CORP_SP_CERTIFICATE is not the certificate of AUTH_CORP_SP_PRIVATE_KEY': {
      SP_PRIVATE_KEY: SP_KEY,
      SP_CERTIFICATE: FOREIGN_CERTIFICATE,
    },
    'AUTH_CORP_SP_metadata has no AssertionConsumerService at': {
      SP_metadata:
        '<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="x"><SPSSODescriptor/></EntityDescriptor>',
    },
    AUTH_CORP_IDP_CERT: { IDP_CERT: 'x' },
  };
  for (const [message, settings] of Object.entries(wrong)) {
    it(`stop the start with "${message}"`, async () => {
      const error = await startSamlFixture(settings).then(
        async (started) => started.stop(),
        (reason: Error) => reason,
      );
      expect(String((error as Error)?.message)).to.contain(message);
    });
  }
});
