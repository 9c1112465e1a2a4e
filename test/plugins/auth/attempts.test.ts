import { expect } from 'chai';
import { type HttpReply, type InProcessService, startService } from '../../support/service.ts';
import {
  createTestUserAccount,
  createUserSender,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
  type TestUserAccount,
} from '../users/test-users.ts';

const WRONG = [401, 'INVALID_CREDENTIALS'] as const;
const SUSPENDED = [401, 'USER_SUSPENDED'] as const;
const LIMIT = 3;

describe('auth_login_attempts', () => {
  /** Two processes of the service on one database. */
  let here: InProcessService;
  let there: InProcessService;
  let admin: SendAsUser;
  let role: string;
  let person: TestUserAccount;
  before(async () => {
    here = await startService();
    there = await startService({ database: here.database });
    admin = createUserSender(here, here.admin.token);
    role = await makeRole(here, { app_access: true });
  });
  beforeEach(async () => {
    await admin('PATCH', '/settings', { auth_login_attempts: LIMIT });
    person = await createTestUserAccount(here, role);
  });
  after(async () => {
    await there?.stop();
    await here?.stop();
  });

  const login = (
    password: string,
    { email }: { readonly email: string } = person,
    service = here,
  ): Promise<HttpReply> => service.request('POST', '/auth/login', { body: { email, password } });
  const statusOf = async (id: string) => (await admin('GET', `/users/${id}?fields=status`)).body.data.status;

  it('the limit suspends a user after as many wrong passwords over two processes, and ends the user’s sessions', async () => {
    const token = (await login(person.password)).body.data.refresh_token;
    for (const service of [here, there, here]) {
      expect(await statusOf(person.id)).to.equal('active');
      expect(statusAndCodeOf(await login('wrong', person, service))).to.deep.equal(WRONG);
    }
    expect(await statusOf(person.id)).to.equal('suspended');
    expect(statusAndCodeOf(await login('wrong'))).to.deep.equal(SUSPENDED);
    expect(statusAndCodeOf(await login(person.password, person, there))).to.deep.equal(SUSPENDED);
    expect(statusAndCodeOf(await person.ask('GET', '/users/me'))).to.deep.equal(SUSPENDED);
    const refresh = await here.request('POST', '/auth/refresh', { body: { refresh_token: token } });
    expect(statusAndCodeOf(refresh)).to.deep.equal(WRONG);
  });

  it('the count restarts with a right password, and when an admin sets the user active', async () => {
    for (let round = 0; round < 2; round++) {
      for (let at = 1; at < LIMIT; at++) expect(statusAndCodeOf(await login('wrong'))).to.deep.equal(WRONG);
      expect((await login(person.password)).status).to.equal(200);
    }
    for (let at = 0; at < LIMIT; at++) await login('wrong');
    expect((await admin('PATCH', `/users/${person.id}`, { status: 'active' })).status).to.equal(200);
    for (let at = 1; at < LIMIT; at++) expect(statusAndCodeOf(await login('wrong'))).to.deep.equal(WRONG);
    expect((await login(person.password)).status).to.equal(200);
  });

  it('concurrent attempts check no more passwords than the limit', async () => {
    const replies = await Promise.all(
      Array.from({ length: 24 }, (_, at) => login('wrong', person, at % 2 ? here : there)),
    );
    const checked = replies.filter((reply) => statusAndCodeOf(reply)[1] === 'INVALID_CREDENTIALS');
    expect(checked).to.have.length(LIMIT);
    expect(await statusOf(person.id)).to.equal('suspended');
  });

  it('many attempts at once for one address are refused alike, whether a user has it or not', async () => {
    await admin('PATCH', '/settings', { auth_login_attempts: 1000 });
    const refusalsOf = async (email: string) => {
      const replies = await Promise.all(Array.from({ length: 100 }, () => login('wrong', { email })));
      return replies.filter(({ status }) => status === 503).length;
    };
    const [known, unknown] = [await refusalsOf(person.email), await refusalsOf('none@example.com')];
    expect(known).to.be.above(0);
    expect(unknown).to.be.above(0);
  });

  it('concurrent right passwords are not counted', async () => {
    await admin('PATCH', '/settings', { auth_login_attempts: 5 });
    const replies = await Promise.all(Array.from({ length: 12 }, () => login(person.password)));
    expect(replies.map(({ status }) => status)).to.deep.equal(Array(12).fill(200));
  });

  it('the limit never suspends the last active admin, whose password is still checked at intervals', async () => {
    const { email, password } = here.admin;
    for (let at = 0; at < LIMIT; at++) expect(statusAndCodeOf(await login('wrong', { email }))).to.deep.equal(WRONG);
    expect(statusAndCodeOf(await login(password, { email }))).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
    await here.database.query(`update platform_sign_in_attempts set at = now() - interval '1 minute'`);
    expect((await login(password, { email })).status).to.equal(200);
  });

  it('null means no limit, and numbers below one are rejected', async () => {
    await admin('PATCH', '/settings', { auth_login_attempts: null });
    for (let at = 0; at <= LIMIT; at++) expect(statusAndCodeOf(await login('wrong'))).to.deep.equal(WRONG);
    expect((await login(person.password)).status).to.equal(200);
    for (const attempts of [0, -1]) {
      const reply = await admin('PATCH', '/settings', { auth_login_attempts: attempts });
      expect(statusAndCodeOf(reply)).to.deep.equal([400, 'INVALID_PAYLOAD']);
      expect(reply.body.errors[0].extensions.path).to.deep.equal(['auth_login_attempts']);
    }
  });

  it('attempts on users of other providers are not counted', async () => {
    await admin('PATCH', `/users/${person.id}`, { provider: 'elsewhere' });
    for (let at = 0; at <= LIMIT; at++) await login('wrong');
    expect(await statusOf(person.id)).to.equal('active');
  });
});
