import { expect } from 'chai';
import { createCookieBrowser } from '../../support/cookie-browser.ts';
import {
  type AssertionText,
  signatureAround,
  signatureIn,
  signElement,
  withoutSignature,
} from '../../support/saml-forge.ts';
import { FOREIGN_CERTIFICATE, FOREIGN_KEY, IDP_CERTIFICATE } from '../../support/saml-keys.ts';
import { type SpawnedService, spawnService } from '../../support/service.ts';
import { createForgery, type Forge, type Forgery, signedAssertion, signedResponse } from './forgery.ts';
import { postForm, type SamlFixture, samlSettings, startSamlFixture, usersOf, withXml, xmlOf } from './saml-fixture.ts';

/** The user whom the identity provider signs in, and the one that the attacker wants to be. */
const [HONEST, VICTIM] = ['mallory', 'admin'];

const sign = signElement;
const evil = (f: Forgery, changes: Partial<AssertionText> = {}) =>
  f.assertion({ id: '_evil', name: VICTIM, ...changes });
const extensions = (content: string) => `<samlp:Extensions>${content}</samlp:Extensions>`;
const insert = (xml: string, content: string) => xml.replace('</saml:Issuer>', `</saml:Issuer>${content}`);

const HMAC = 'http://www.w3.org/2000/09/xmldsig#hmac-sha1';

const REFUSED: Readonly<Record<string, Forge>> = {
  'no signature': (f) => f.response(),
  'a signature that is taken away': (f) => withoutSignature(f.xml),
  'tampered: another name': (f) => f.xml.replace(`>${HONEST}<`, `>${VICTIM}<`),
  'tampered: another name in a signed assertion': (f) =>
    f.wrap(sign(f.assertion(), 'Assertion').replace(`>${HONEST}<`, `>${VICTIM}<`)),
  'tampered: another group': (f) =>
    sign(f.response({ attributes: { groups: ['staff'] } }), 'Response').replace('>staff<', '>admin<'),
  'tampered: another digest': (f) => f.xml.replace(/(<ds:DigestValue>)./, '$1A').replace(`>${HONEST}<`, `>${VICTIM}<`),
  'foreign-signed': (f) => sign(f.response(), 'Response', { key: FOREIGN_KEY }),
  'foreign-signed, with its own certificate': (f) =>
    sign(f.response(), 'Response', { key: FOREIGN_KEY, certificate: FOREIGN_CERTIFICATE }),
  'expired conditions': signedResponse({ notBefore: -7200, notOnOrAfter: -3600 }),
  'expired confirmation': signedResponse({ confirmedUntil: -3600 }),
  'a confirmation without an end': signedResponse({ confirmedUntil: null }),
  'not valid yet': signedResponse({ notBefore: 3600, notOnOrAfter: 7200 }),
  'a session that is over': signedResponse({ sessionUntil: -3600 }),
  'wrong audience': signedResponse({ audience: 'https://other.example.com' }),
  'no audience': signedResponse({ audience: null }),
  'wrong issuer of the assertion': signedResponse({ issuer: 'https://evil.example.com' }),
  'wrong issuer of the response': (f) =>
    f.wrap(sign(f.assertion(), 'Assertion'), { issuer: 'https://evil.example.com' }),
  'wrong recipient': signedResponse({ recipient: 'https://other.example.com/acs' }),
  'wrong destination': signedResponse({}, { destination: 'https://other.example.com/acs' }),
  'another request, in the assertion': signedResponse({ inResponseTo: '_other' }),
  'another request, in the response': signedResponse({}, { inResponseTo: '_other' }),
  'no request (begun by the provider)': signedResponse({ inResponseTo: null }),
  'not by its bearer': signedResponse({ method: 'urn:oasis:names:tc:SAML:2.0:cm:sender-vouches' }),
  'a status that is no success': signedResponse({}, { status: 'urn:oasis:names:tc:SAML:2.0:status:Responder' }),
  'no assertion': (f) => sign(f.wrap(''), 'Response'),
  'two signed assertions': (f) =>
    f.wrap(sign(f.assertion(), 'Assertion') + sign(evil(f), 'Assertion', { key: FOREIGN_KEY })),
  'no NameID': signedResponse({ name: '' }),

  'wrapped 1: the signed response inside the signature of another one': (f) =>
    f
      .wrap(evil(f), { id: '_evil-response' })
      .replace(
        '</saml:Issuer><samlp:Status>',
        `</saml:Issuer>${signatureAround(signatureIn(f.xml), withoutSignature(f.xml))}<samlp:Status>`,
      ),
  'wrapped 2: the signed response in front of its signature': (f) =>
    f
      .wrap(evil(f), { id: '_evil-response' })
      .replace(
        '</saml:Issuer><samlp:Status>',
        `</saml:Issuer>${withoutSignature(f.xml)}${signatureIn(f.xml)}<samlp:Status>`,
      ),
  'wrapped 3: an assertion in front of the signed one': (f) => f.wrap(evil(f) + sign(f.assertion(), 'Assertion')),
  'wrapped 4: the signed assertion inside another one': (f) =>
    f.wrap(evil(f, { extra: sign(f.assertion(), 'Assertion') })),
  'wrapped 5: the signature in another assertion, the signed one behind it': (f) => {
    const signed = sign(f.assertion(), 'Assertion');
    return f.wrap(insert(evil(f), signatureIn(signed)) + withoutSignature(signed));
  },
  'wrapped 6: the signed assertion inside its signature': (f) => {
    const signed = sign(f.assertion(), 'Assertion');
    return f.wrap(insert(evil(f), signatureAround(signatureIn(signed), withoutSignature(signed))));
  },
  'wrapped 7: an assertion with the same id in the extensions': (f) =>
    f.wrap(extensions(f.assertion({ name: VICTIM })) + sign(f.assertion(), 'Assertion')),
  'wrapped 8: the signed assertion in an object of the signature': (f) => {
    const signed = sign(f.assertion(), 'Assertion');
    const object = `<ds:Object>${withoutSignature(signed)}</ds:Object>`;
    return f.wrap(insert(evil(f), signatureAround(signatureIn(signed), object)));
  },
  'wrapped: another assertion with the id of the signed one': (f) =>
    f.wrap(f.assertion({ name: VICTIM }) + sign(f.assertion(), 'Assertion')),
  'wrapped: the signed assertion in the extensions': (f) =>
    f.wrap(extensions(sign(f.assertion(), 'Assertion')) + evil(f)),
  'wrapped: the signed response in the extensions of another one': (f) =>
    f.wrap(extensions(f.xml) + evil(f), { id: '_evil-response' }),
  'wrapped: an id in small letters': (f) =>
    f.wrap(
      sign(f.assertion(), 'Assertion') +
        evil(f).replace(
          'ID="_evil"',
          f
            .assertion()
            .match(/ ID="[^"]+"/)?.[0]
            .trim()
            .replace('ID', 'id') as string,
        ),
    ),
  'a signature of another element in the response': (f) =>
    f.wrap(insert(evil(f), signatureIn(sign(f.assertion(), 'Assertion')))),
  'a signature with an empty reference': (f) => sign(f.response(), 'Response', { emptyUri: true }),

  'comment-split name': (f) => {
    const xml = sign(f.response({ name: `${VICTIM}.evil.example` }), 'Response');
    return xml.replace(`>${VICTIM}.evil`, `>${VICTIM}<!---->.evil`);
  },
  'name split by a processing instruction': (f) =>
    sign(f.response({ name: `${VICTIM}.evil` }), 'Response').replace(`>${VICTIM}.evil`, `>${VICTIM}<?x?>.evil`),
  'CDATA in a name': (f) =>
    sign(f.response({ name: `${VICTIM}.evil` }), 'Response').replace(`>${VICTIM}.evil`, `>${VICTIM}<![CDATA[.evil]]>`),

  'algorithm confusion: HMAC with the certificate': signedAssertion(
    { signature: HMAC, secret: IDP_CERTIFICATE },
    { name: VICTIM },
  ),
  'algorithm confusion: an unknown method': signedAssertion({ signature: 'urn:none', secret: '' }, { name: VICTIM }),
  'RSA with SHA-1': signedAssertion({ signature: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' }),
  'a digest by SHA-1': signedAssertion({ digest: 'http://www.w3.org/2000/09/xmldsig#sha1' }),
  'a canonical form with comments': signedAssertion({
    transforms: [
      'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
      'http://www.w3.org/2001/10/xml-exc-c14n#WithComments',
    ],
  }),
  'a transform by XSLT': (f) =>
    f.xml.replace(
      'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
      'http://www.w3.org/TR/1999/REC-xslt-19991116',
    ),

  'a document type with entities that grow': (f) =>
    `<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">${Array.from({ length: 20 }, (_, i) => `<!ENTITY a${i} "${`&a${i ? i - 1 : ''};`.repeat(10)}">`).join('')}]>${f.xml.replace(HONEST, '&a19;')}`,
  'an external entity': (f) => `<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]>${f.xml.replace(HONEST, '&a;')}`,
  'a parameter entity of another server': (f) =>
    `<?xml version="1.0"?><!DOCTYPE r [<!ENTITY % a SYSTEM "http://127.0.0.1:1/x">%a;]>${f.xml}`,
  'an entity that is unknown': (f) => f.xml.replace(HONEST, '&a;'),
  'ten thousand nested elements': (f) => f.wrap(`${'<a>'.repeat(10_000)}${'</a>'.repeat(10_000)}`),
  'hundreds of nested elements': (f) => f.wrap(evil(f, { extra: `${'<a>'.repeat(400)}${'</a>'.repeat(400)}` })),
  'XML that is not well-formed': (f) => f.xml.slice(0, -20),
  'a second root': (f) => `${f.xml}${f.xml}`,
  'no XML': () => 'yes',
  'no text': () => '',
  'control characters': () => '\u0000\uffff',
  'a logout request in place of a response': (f) => f.xml.replaceAll('samlp:Response', 'samlp:LogoutRequest'),
  'a response of SAML 1': (f) => f.xml.replaceAll('SAML:2.0:protocol', 'SAML:1.0:protocol'),
};

describe('the driver saml refuses', () => {
  let fixture: SamlFixture;
  let other: SpawnedService;
  const table: string[] = [];
  const record = (what: string, refusal: string | undefined) => table.push(`saml   ${what.padEnd(72)}${refusal}`);

  before(async function () {
    this.timeout(180_000);
    fixture = await startSamlFixture();
    const url = fixture.service.url;
    // A second process on the same database, behind the same address for browsers.
    other = await spawnService({
      database: fixture.database,
      env: { ...samlSettings(fixture.idp), PUBLIC_URL: url },
    });
    await fixture.service.request('POST', '/users', {
      token: fixture.service.admin.token,
      body: { email: 'victim@example.com', provider: 'corp', external_identifier: VICTIM, status: 'active' },
    });
  });
  after(async () => {
    await other?.stop();
    await fixture?.stop();
    console.log(table.map((line) => `      ${line}`).join('\n'));
  });

  async function forgeSignIn(forge: Forge) {
    return fixture.signIn(
      { name: HONEST },
      {
        change: (form, request) =>
          withXml(form, forge(createForgery({ idp: fixture.idp, name: HONEST }, form.action, xmlOf(form), request))),
      },
    );
  }
  const sessions = async () =>
    (
      await fixture.database.query<{ count: number }>(
        "select count(*)::int as count from platform_sessions s join platform_users u on u.id = s.user where u.provider = 'corp' and u.external_identifier <> $1",
        [HONEST],
      )
    )[0]?.count;

  it('nothing of a response, or of a response with a signed assertion, that a test writes without a fault', async () => {
    for (const forge of [signedResponse({}), signedAssertion({})]) {
      const reply = await forgeSignIn(forge);
      expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
    }
  });

  for (const [what, forge] of Object.entries(REFUSED)) {
    it(`${what}`, async () => {
      const reply = await forgeSignIn(forge);
      record(what, reply.refusal);
      expect(reply.refusal).to.equal('401 INVALID_CREDENTIALS');
      expect(await sessions()).to.equal(0);
    });
  }

  it('a response that was used before, also in another process and browser', async () => {
    let cookies: Map<string, Map<string, string>> | undefined;
    const browser = createCookieBrowser();
    const first = await fixture.signIn(
      { name: HONEST },
      {
        browser,
        change(form) {
          cookies = structuredClone(browser.cookies);
          return form;
        },
      },
    );
    expect(first.status).to.equal(200);
    const replay = async (url: string, restored: boolean) => {
      const again = createCookieBrowser();
      const [own] = [...(cookies?.values() ?? [])];
      if (restored && own) again.cookies.set(new URL(url).origin, new Map(own));
      const action = first.form.action.replace(fixture.service.url, url);
      const { refusal } = await postForm(again, { ...first.form, action });
      return refusal;
    };
    const answers = {
      'replayed in the same browser': (await postForm(browser, first.form)).refusal,
      'replayed with the cookie of the sign-in': await replay(fixture.service.url, true),
      'replayed in the other process': await replay(other.url, true),
      'replayed in another browser': await replay(fixture.service.url, false),
    };
    for (const [what, refusal] of Object.entries(answers)) {
      record(what, refusal);
      expect(refusal, what).to.equal('403 INVALID_TOKEN');
    }
  });

  it('all but one of ten uses of a response at the same time in two processes', async () => {
    const browser = createCookieBrowser();
    const begin = await browser.send(`${fixture.service.url}/auth/login/corp`);
    fixture.idp.user = { name: HONEST };
    const form = await fixture.idp.respond(new URL(begin.headers.get('location') as string));
    const [cookies] = [...browser.cookies.values()];
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_none, at) => {
        const url = at % 2 === 0 ? fixture.service.url : other.url;
        const one = createCookieBrowser();
        one.cookies.set(new URL(url).origin, new Map(cookies));
        return postForm(one, { ...form, action: form.action.replace(fixture.service.url, url) });
      }),
    );
    expect(replies.filter(({ status }) => status === 200)).to.have.lengthOf(1);
    expect(new Set(replies.flatMap(({ refusal }) => refusal ?? []))).to.deep.equal(new Set(['403 INVALID_TOKEN']));
  });

  it('nothing of a sign-in that ends in another process than it began', async () => {
    const browser = createCookieBrowser();
    const begin = await browser.send(`${fixture.service.url}/auth/login/corp`);
    const form = await fixture.idp.respond(new URL(begin.headers.get('location') as string));
    const [cookies] = [...browser.cookies.values()];
    const one = createCookieBrowser();
    one.cookies.set(new URL(other.url).origin, new Map(cookies));
    const reply = await postForm(one, { ...form, action: form.action.replace(fixture.service.url, other.url) });
    expect(reply.status).to.equal(200);
  });

  it('a signed assertion of an earlier sign-in in a new response', async () => {
    const signed = await fixture.signIn(
      { name: HONEST },
      {
        change: (form, request) =>
          withXml(
            form,
            signedAssertion({})(createForgery({ idp: fixture.idp, name: HONEST }, form.action, xmlOf(form), request)),
          ),
      },
    );
    const stolen = /<saml:Assertion.*<\/saml:Assertion>/s.exec(xmlOf(signed.form))?.[0] as string;
    const reply = await forgeSignIn((f) => f.wrap(stolen));
    record('a stolen assertion in a new response', reply.refusal);
    expect(reply.refusal).to.equal('401 INVALID_CREDENTIALS');
  });

  it('an assertion whose id was used before, in the other process', async () => {
    const twice: Forge = (f) => sign(f.response({ id: '_used-twice' }), 'Response');
    expect((await forgeSignIn(twice)).status).to.equal(200);
    const url = other.url;
    const browser = createCookieBrowser();
    const begin = await browser.send(`${url}/auth/login/corp`);
    const request = new URL(begin.headers.get('location') as string);
    const form = await fixture.idp.respond(request);
    const forged = withXml(
      form,
      twice(createForgery({ idp: fixture.idp, name: HONEST }, form.action, xmlOf(form), request)),
    );
    const reply = await postForm(browser, { ...forged, action: form.action.replace(fixture.service.url, url) });
    record('an assertion id that the other process has seen', reply.refusal);
    expect(reply.refusal).to.equal('401 INVALID_CREDENTIALS');
  });

  const forms: Readonly<Record<string, readonly [refusal: string, fields: Record<string, string | undefined>]>> = {
    'wrong state': ['403 INVALID_TOKEN', { RelayState: 'x'.repeat(43) }],
    'an address as RelayState': ['403 INVALID_TOKEN', { RelayState: 'https://evil.example.com/' }],
    'no RelayState': ['403 INVALID_TOKEN', { RelayState: undefined }],
    'no SAMLResponse': ['401 INVALID_CREDENTIALS', { SAMLResponse: undefined }],
    'a text that is not base64': ['401 INVALID_CREDENTIALS', { SAMLResponse: '<samlp:Response/>' }],
    'a form of a megabyte': ['413 CONTENT_TOO_LARGE', { SAMLResponse: 'A'.repeat(1_000_000) }],
    'a response of a quarter of a megabyte': ['401 INVALID_CREDENTIALS', { SAMLResponse: 'A'.repeat(250_000) }],
  };
  for (const [what, [refusal, fields]] of Object.entries(forms)) {
    it(what, async () => {
      const reply = await fixture.signIn(
        { name: HONEST },
        {
          change: (form) => {
            const all = Object.entries({ ...form.fields, ...fields }).filter(([, value]) => value !== undefined);
            return { ...form, fields: Object.fromEntries(all) as Record<string, string> };
          },
        },
      );
      record(what, reply.refusal);
      expect(reply.refusal).to.equal(refusal);
    });
  }

  it('the response to a sign-in that another browser began', async () => {
    const own = createCookieBrowser();
    await own.send(`${fixture.service.url}/auth/login/corp`);
    const foreign = createCookieBrowser();
    const begin = await foreign.send(`${fixture.service.url}/auth/login/corp`);
    const reply = await postForm(own, await fixture.idp.respond(new URL(begin.headers.get('location') as string)));
    record('the response to the sign-in of another browser', reply.refusal);
    expect(reply.refusal).to.equal('403 INVALID_TOKEN');
  });

  it('an e-mail address that belongs to a user of another provider', async () => {
    const reply = await fixture.signIn({ name: 'thief', email: fixture.service.admin.email });
    record('e-mail taken over from another provider', reply.refusal);
    expect(reply.refusal).to.equal('401 INVALID_PROVIDER');
    expect(await usersOf(fixture.database, 'thief')).to.deep.equal([]);
  });

  it('redirects that are not allowed, before the identity provider is asked', async () => {
    const refused = [
      'https://evil.example.com/',
      '//evil.example.com',
      'https://app.example.com/other',
      'javascript:alert(1)',
      '/\\evil.example.com',
    ];
    for (const redirect of refused) {
      const { status, body } = await fixture.service.request(
        'GET',
        `/auth/login/corp?redirect=${encodeURIComponent(redirect)}`,
      );
      record(`open redirect ${redirect}`, `${status} ${body?.errors?.[0]?.extensions.code}`);
      expect(body?.errors?.[0]?.extensions.code, redirect).to.equal('INVALID_QUERY');
    }
  });

  it('with the code as reason, where the sign-in has a redirect', async () => {
    const reply = await fixture.signIn(
      { name: HONEST },
      { query: '?redirect=/welcome', change: (form) => withXml(form, withoutSignature(xmlOf(form))) },
    );
    expect([reply.status, reply.location]).to.deep.equal([
      302,
      `${fixture.service.url}/welcome?reason=INVALID_CREDENTIALS`,
    ]);
  });
});
