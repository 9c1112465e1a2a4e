import { expect } from 'chai';
import { createCookieBrowser } from '../../support/cookie-browser.ts';
import { signElement, withoutSignature } from '../../support/saml-forge.ts';
import type { PostedForm } from '../../support/saml-identity-provider.ts';
import { FOREIGN_KEY, SP_CERTIFICATE, SP_KEY } from '../../support/saml-keys.ts';
import { postForm, type SamlFixture, type SamlSignIn, startSamlFixture, withXml, xmlOf } from './saml-fixture.ts';

describe('single logout by the driver saml', () => {
  let fixture: SamlFixture;
  before(async function () {
    this.timeout(120_000);
    fixture = await startSamlFixture({ SP_PRIVATE_KEY: SP_KEY, SP_CERTIFICATE: SP_CERTIFICATE });
  });
  after(() => fixture?.stop());

  const signIn = (name: string, query = '?mode=json') => fixture.signIn({ name }, { query });
  /** The status of a refresh, and the new refresh token. */
  async function refresh(refresh_token: string) {
    const { status, body } = await fixture.service.request('POST', '/auth/refresh', { body: { refresh_token } });
    return { status, token: body?.data?.refresh_token as string };
  }
  const logoutUrl = () => `${fixture.service.url}/auth/login/corp/logout`;
  async function sendJson(browser: SamlSignIn['browser'], fields: object) {
    const headers = { 'content-type': 'application/json' };
    const response = await browser.send(logoutUrl(), { method: 'POST', body: JSON.stringify(fields), headers });
    const body = (await response.json()) as {
      readonly data?: { readonly location: string | null };
      readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
    };
    return { status: response.status, body, location: body.data?.location, code: body.errors?.[0]?.extensions.code };
  }

  describe('that begins here', () => {
    it('ends the session of the token and names the address of the provider, whose answer leads to the redirect', async () => {
      const { browser, body } = await signIn('ann');
      const redirect = `${fixture.service.url}/good%20bye?name=it%27s%20(~over~)!`;
      const reply = await sendJson(browser, { refresh_token: body.data.refresh_token, redirect });
      expect(reply.status).to.equal(200);
      const location = new URL(reply.location as string);
      expect(location.href).to.contain(`${new URL(fixture.idp.entityId).origin}/slo?SAMLRequest=`);
      expect(location.searchParams.get('Signature')).to.be.a('string');
      expect((await refresh(body.data.refresh_token)).status).to.equal(401);
      // The provider verifies the signature, and learns whose session ends.
      const answer = await fixture.idp.answerLogout(location);
      expect(answer.name).to.equal('ann');
      const end = await postForm(browser, answer);
      expect([end.status, end.location]).to.deep.equal([303, redirect]);
    });

    it('leaves other sessions of the user', async () => {
      const [one, two] = [await signIn('bob'), await signIn('bob')];
      await sendJson(one.browser, { refresh_token: one.body.data.refresh_token });
      expect((await refresh(two.body.data.refresh_token)).status).to.equal(200);
    });

    it('ends the session of the cookie by a form, and redirects', async () => {
      const { browser } = await signIn('cid', '?mode=cookie');
      const reply = await browser.send(logoutUrl(), {
        method: 'POST',
        body: new URLSearchParams({ redirect: '/bye' }),
      });
      expect(reply.status).to.equal(303);
      expect(reply.headers.get('location')).to.contain('/slo?SAMLRequest=');
      const again = await browser.send(`${fixture.service.url}/auth/refresh`, { method: 'POST' });
      expect(again.status).to.equal(401);
    });

    it('ends only the session here, where the browser did not sign in by the provider', async () => {
      const { body } = await signIn('dan');
      const reply = await sendJson(createCookieBrowser(), { refresh_token: body.data.refresh_token });
      expect(reply.body).to.deep.equal({ data: { location: null } });
      expect((await refresh(body.data.refresh_token)).status).to.equal(401);
    });

    it('answers INVALID_CREDENTIALS without a token, a cookie and a sign-in', async () => {
      const reply = await sendJson(createCookieBrowser(), {});
      expect([reply.status, reply.code]).to.deep.equal([401, 'INVALID_CREDENTIALS']);
    });

    it('refuses a redirect that is not allowed, and ends no session', async () => {
      const { browser, body } = await signIn('eve');
      const { refresh_token } = body.data;
      const reply = await sendJson(browser, { refresh_token, redirect: 'https://evil.example.com/' });
      expect([reply.status, reply.code]).to.deep.equal([400, 'INVALID_QUERY']);
      expect((await refresh(refresh_token)).status).to.equal(200);
    });

    it('follows no RelayState of the answer that is not allowed', async () => {
      const { browser, body } = await signIn('fay');
      const reply = await sendJson(browser, { refresh_token: body.data.refresh_token });
      const answer = await fixture.idp.answerLogout(new URL(reply.location as string));
      const RelayState = 'https://evil.example.com/';
      const end = await postForm(browser, { ...answer, fields: { ...answer.fields, RelayState } });
      expect([end.status, end.location]).to.deep.equal([204, null]);
    });

    it('refuses an answer whose signature is missing or foreign', async () => {
      const { browser, body } = await signIn('gus');
      const reply = await sendJson(browser, { refresh_token: body.data.refresh_token });
      const answer = await fixture.idp.answerLogout(new URL(reply.location as string));
      const bare = withoutSignature(xmlOf(answer));
      const foreign = signElement(bare, 'LogoutResponse', { key: FOREIGN_KEY });
      for (const xml of [bare, foreign])
        expect((await postForm(browser, withXml(answer, xml))).refusal).to.equal('401 INVALID_CREDENTIALS');
    });
  });

  describe('that the provider begins', () => {
    const post = (form: PostedForm) => postForm(createCookieBrowser(), form);

    it('ends all sessions of the user, and answers the provider with a signed response', async () => {
      const [one, two, foreign] = [await signIn('hal'), await signIn('hal'), await signIn('ida')];
      const before = fixture.idp.successfulLogouts;
      const end = await post(await fixture.idp.beginLogout('hal'));
      expect(end.status).to.equal(303);
      expect((await refresh(one.body.data.refresh_token)).status).to.equal(401);
      expect((await refresh(two.body.data.refresh_token)).status).to.equal(401);
      expect((await refresh(foreign.body.data.refresh_token)).status).to.equal(200);
      const answer = await fetch(end.location as string);
      expect(await answer.text()).to.contain('Signed out');
      expect(fixture.idp.successfulLogouts).to.equal(before + 1);
    });

    const changes: Readonly<Record<string, (xml: string) => string>> = {
      'without a signature': withoutSignature,
      'that is tampered': (xml) => xml.replace('>lee<', '>jon<'),
      'that is foreign-signed': (xml) => signElement(withoutSignature(xml), 'LogoutRequest', { key: FOREIGN_KEY }),
      'of another issuer': (xml) => resign(xml.replace(/<saml:Issuer>[^<]*/, '<saml:Issuer>https://evil.example.com')),
      'for another service': (xml) =>
        resign(xml.replace(/Destination="[^"]*"/, 'Destination="https://other.example.com/"')),
      'of yesterday': (xml) => resign(xml.replace(/IssueInstant="[^"]*"/, 'IssueInstant="2020-01-01T00:00:00Z"')),
      'without a time': (xml) => resign(xml.replace(/ IssueInstant="[^"]*"/, '')),
      'with a comment in the name': (xml) =>
        resign(xml.replace('>lee<', '>jon.evil<')).replace('>jon.', '>jon<!---->.'),
      'with two names': (xml) => resign(xml.replace('<saml:NameID', '<saml:NameID>jon</saml:NameID><saml:NameID')),
      'inside another one': (xml) =>
        withoutSignature(xml)
          .replace('>lee<', '>jon<')
          .replace(/ ID="[^"]*"/, ' ID="_evil"')
          .replace('</saml:Issuer>', `</saml:Issuer><samlp:Extensions>${xml}</samlp:Extensions>`),
      'that is an answer': (xml) => xml.replaceAll('LogoutRequest', 'LogoutResponse'),
    };
    const resign = (xml: string) =>
      signElement(withoutSignature(xml).replace(/ ID="[^"]*"/, ` ID="_${crypto.randomUUID()}"`), 'LogoutRequest');

    it('is taken where a test signs it as the provider does', async () => {
      const form = await fixture.idp.beginLogout('lee');
      expect((await post(withXml(form, resign(xmlOf(form, 'SAMLRequest')), 'SAMLRequest'))).status).to.equal(303);
    });
    for (const [what, change] of Object.entries(changes)) {
      it(`refuses a request ${what}`, async () => {
        const session = await signIn('jon');
        const form = await fixture.idp.beginLogout('lee');
        const changed = change(xmlOf(form, 'SAMLRequest'));
        expect(changed).to.not.equal(xmlOf(form, 'SAMLRequest'));
        expect((await post(withXml(form, changed, 'SAMLRequest'))).refusal).to.equal('401 INVALID_CREDENTIALS');
        expect((await refresh(session.body.data.refresh_token)).status).to.equal(200);
      });
    }

    it('refuses a request that was used before', async () => {
      const form = await fixture.idp.beginLogout('kim');
      expect((await post(form)).status).to.equal(303);
      const session = await signIn('kim');
      expect((await post(form)).refusal).to.equal('401 INVALID_CREDENTIALS');
      expect((await refresh(session.body.data.refresh_token)).status).to.equal(200);
    });
  });
});

describe('single logout of users whom IDENTIFIER_KEY identifies', () => {
  let fixture: SamlFixture;
  before(async function () {
    this.timeout(120_000);
    fixture = await startSamlFixture({ IDENTIFIER_KEY: 'employee' });
  });
  after(() => fixture?.stop());

  it('finds the user by each NameID that the provider gave', async () => {
    const sign = (name: string) => fixture.signIn({ name, attributes: { employee: '7' } }, { query: '?mode=json' });
    const statusOf = async (refresh_token: string) =>
      (await fixture.service.request('POST', '/auth/refresh', { body: { refresh_token } })).status;
    for (const name of ['first name', 'second name']) {
      const { body } = await sign(name);
      expect((await postForm(createCookieBrowser(), await fixture.idp.beginLogout(name))).status).to.equal(303);
      expect(await statusOf(body.data.refresh_token), name).to.equal(401);
    }
  });

  it('keeps one row for a NameID, and deletes expired ones', async () => {
    await fixture.database.query(
      "insert into platform_saml_names (id, identifier, expires) values ('old', 'x', now() - interval '1 day')",
    );
    for (let i = 0; i < 2; i++) await fixture.signIn({ name: 'again', attributes: { employee: '8' } });
    const rows = await fixture.database.query<{ id: string; identifier: string }>(
      "select id, identifier from platform_saml_names where id = 'old' or identifier = '8'",
    );
    expect(rows.map(({ identifier }) => identifier)).to.deep.equal(['8']);
  });
});
