import { expect } from 'chai';
import { type HttpReply, type InProcessService, startService } from '../../support/service.ts';
import { createTestUserAccount, createUserSender, makeRole, type SendAsUser, statusAndCodeOf } from './test-users.ts';

const POLICY = '/^(?=.*\\d).{8,}$/';
const BAD = 'no digit';
const GOOD = 'a digit 1';

describe('auth_password_policy', () => {
  let service: InProcessService;
  let admin: SendAsUser;
  before(async () => {
    service = await startService();
    admin = createUserSender(service, service.admin.token);
    expect((await admin('PATCH', '/settings', { auth_password_policy: POLICY })).status).to.equal(200);
  });
  after(() => service?.stop());

  let count = 0;
  const user = (password: string) => ({ email: `policy${++count}@example.com`, password });
  const text = JSON.stringify;
  const graphql = async (query: string): Promise<HttpReply> => {
    const reply = await admin('POST', '/graphql/system', { query });
    return { ...reply, status: reply.body.errors ? 400 : 200 };
  };

  describe('rejects a password that does not match', () => {
    let role: string;
    let id: string;
    let me: SendAsUser;
    before(async () => {
      role = await makeRole(service, { app_access: true }, [{ collection: 'platform_users', action: 'update' }]);
      const person = await createTestUserAccount(service, role, { password: GOOD });
      ({ id, ask: me } = person);
    });

    const ways: Readonly<Record<string, (password: string) => Promise<HttpReply>>> = {
      'POST /users': (password) => admin('POST', '/users', user(password)),
      'POST /users with a list': (password) => admin('POST', '/users', [user(GOOD), user(password)]),
      'PATCH /users/<id>': (password) => admin('PATCH', `/users/${id}`, { password }),
      'PATCH /users with keys': (password) => admin('PATCH', '/users', { keys: [id], data: { password } }),
      'PATCH /users with a list': (password) => admin('PATCH', '/users', [{ id, password }]),
      'PATCH /users by a query': (password) =>
        admin('PATCH', '/users', { query: { filter: { id: { _eq: id } } }, data: { password } }),
      'PATCH /users/me': (password) => me('PATCH', '/users/me', { password }),
      'POST /roles with a nested user': (password) =>
        admin('POST', '/roles', { name: `Policy ${++count}`, users: { create: [user(password)] } }),
      'PATCH /roles/<id> with a nested user': (password) =>
        admin('PATCH', `/roles/${role}`, { users: { update: [{ id, password }] } }),
      create_users_item: (password) => {
        const { email } = user(password);
        return graphql(
          `mutation { create_users_item(data: { email: ${text(email)}, password: ${text(password)} }) { id } }`,
        );
      },
      update_users_me: (password) =>
        graphql(`mutation { update_users_me(data: { password: ${text(password)} }) { id } }`),
    };

    for (const [way, set] of Object.entries(ways)) {
      it(`by ${way}`, async () => {
        const refused = await set(BAD);
        expect(statusAndCodeOf(refused), text(refused.body)).to.deep.equal([400, 'FAILED_VALIDATION']);
        expect(refused.body.errors[0].extensions).to.include({ field: 'password', type: 'regex' });
        expect(text(refused.body)).not.to.include(BAD);
        const taken = await set(GOOD);
        expect(taken.status, text(taken.body)).to.equal(200);
      });
    }
  });

  describe('as a value of /settings', () => {
    it('a value that is no regular expression or matches too slowly is rejected with INVALID_PAYLOAD', async () => {
      for (const policy of ['(', '/[/', '[z-a]', '^(a+)+$', '/^(\\d*)*x$/', '^(.*a){20}$', 7]) {
        const reply = await admin('PATCH', '/settings', { auth_password_policy: policy });
        expect([policy, ...statusAndCodeOf(reply)]).to.deep.equal([policy, 400, 'INVALID_PAYLOAD']);
        expect(reply.body.errors[0].extensions.path).to.deep.equal(['auth_password_policy']);
      }
    });

    it('a slow policy written by SQL delays no other request, and no password matches it', async () => {
      await service.database.query(`update platform_settings set auth_password_policy = '^(b+)+$'`);
      const password = `${'b'.repeat(60)}!`;
      expect(statusAndCodeOf(await admin('POST', '/users', user(password)))).to.deep.equal([400, 'FAILED_VALIDATION']);
    });

    it('a removed policy restricts no password', async () => {
      expect((await admin('PATCH', '/settings', { auth_password_policy: null })).status).to.equal(200);
      expect((await admin('POST', '/users', user(BAD))).status).to.equal(200);
    });
  });
});
