import { expect } from 'chai';
import { type MailLinks, startMailLinks, tokenOf } from '../../support/mail-links.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import { createTestUserAccount, errorCodeOf, makeRole, statusAndCodeOf, type TestUserAccount } from '../users/test-users.ts';

const PAGE = 'https://app.example.com/new-password';

describe('password reset', function () {
  this.timeout(120_000);
  let mails: MailLinks;
  let service: InProcessService;
  let role: string;
  before(async () => {
    mails = await startMailLinks();
    service = await startService({
      env: { ...mails.env, PUBLIC_URL: 'https://content.example.com/api/', PASSWORD_RESET_URL_ALLOW_LIST: PAGE },
    });
    role = await makeRole(service, { app_access: true });
  });
  after(async () => {
    await service?.stop();
    await mails?.server.stop();
  });

  const post = (path: string, body: unknown) => service.request('POST', path, { body });
  const requestLink = (body: unknown) => post('/auth/password/request', body);
  const reset = (token: string, password: string) => post('/auth/password/reset', { token, password });
  const login = (email: string, password: string) => post('/auth/login', { email, password });
  const mutate = (query: string, variables: object) => post('/graphql/system', { query, variables });
  const createPerson = (more: Record<string, unknown> = {}) => createTestUserAccount(service, role, more);

  /** A link that a person has requested, and its token. */
  async function linkOf({ email }: TestUserAccount, body: object = {}): Promise<URL> {
    const reply = await requestLink({ email, ...body });
    expect([reply.status, reply.body]).to.deep.equal([200, undefined]);
    return mails.linkFor(email);
  }

  describe('POST /auth/password/request', () => {
    it('answers 200 without a body, and mails a link to the page below PUBLIC_URL', async () => {
      const ann = await createPerson();
      const link = await linkOf(ann);
      expect(link.origin + link.pathname).to.equal('https://content.example.com/api/admin/reset-password');
      expect([...link.searchParams.keys()]).to.deep.equal(['token']);
    });

    it('mails the reset_url of the list with its own parameters and the fragment', async () => {
      const link = await linkOf(await createPerson(), { reset_url: `${PAGE}?theme=dark&token=old#here` });
      expect(link.origin + link.pathname).to.equal(PAGE);
      expect([link.searchParams.get('theme'), link.hash]).to.deep.equal(['dark', '#here']);
      expect(tokenOf(link)).to.match(/^ey/);
    });
  });

  it('sets a password once', async () => {
    const ann = await createPerson();
    const token = tokenOf(await linkOf(ann));
    const reply = await reset(token, 'another password');
    expect([reply.status, reply.body]).to.deep.equal([200, undefined]);
    expect((await login(ann.email, 'another password')).status).to.equal(200);
    expect(statusAndCodeOf(await reset(token, 'x'))).to.deep.equal([403, 'INVALID_TOKEN']);
    const gql = await mutate('mutation ($email: String!) { auth_password_request(email: $email) }', { email: ann.email });
    expect(gql.body).to.deep.equal({ data: { auth_password_request: true } });
    expect(errorCodeOf(gql)).to.equal(undefined);
  });
});
