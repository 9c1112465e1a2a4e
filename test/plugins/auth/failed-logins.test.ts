import { expect } from 'chai';
import { until } from '../../support/until.ts';
import { createTestUserAccount, makeRole } from '../users/test-users.ts';
import { type AuthFixture, startAuthFixture } from './auth-fixture.ts';

describe('the action auth.login of a failed sign-in', function () {
  this.timeout(120_000);
  let fixture: AuthFixture;
  const seen: Record<string, unknown>[] = [];
  before(async () => {
    fixture = await startAuthFixture();
    fixture.events.onAction('auth.login', (meta) => void seen.push(meta));
  });
  after(() => fixture?.stop());

  it('has status fail, the user where the address names one, the code of the answer, and no password', async () => {
    const { service } = fixture;
    const role = await makeRole(service);
    const account = (more: Record<string, unknown> = {}) => createTestUserAccount(service, role, more);
    const active = await account();
    const suspended = await account({ status: 'suspended' });
    const foreign = await account({ provider: 'corporate' });
    const attempts = [
      ['unknown address', { email: 'unknown@example.com', password: 'secret guess' }, undefined, 'INVALID_CREDENTIALS'],
      ['wrong password', { email: active.email, password: 'secret guess' }, active.id, 'INVALID_CREDENTIALS'],
      ['suspended', { email: suspended.email, password: suspended.password }, suspended.id, 'USER_SUSPENDED'],
      ['wrong provider', { email: foreign.email, password: foreign.password }, foreign.id, 'INVALID_PROVIDER'],
    ] as const;
    for (const [title, credentials, user, code] of attempts)
      for (const way of ['REST', 'GraphQL']) {
        seen.length = 0;
        const query =
          'mutation ($email: String!, $password: String!) { auth_login(email: $email, password: $password) { expires } }';
        await (way === 'REST'
          ? service.request('POST', '/auth/login', { body: credentials })
          : service.request('POST', '/graphql/system', { body: { query, variables: credentials } }));
        const [event = {}] = await until(() => seen.length > 0 && seen);
        expect(event, `${title} by ${way}`).to.deep.include({
          status: 'fail',
          user,
          provider: 'default',
          payload: { email: credentials.email },
        });
        expect((event.error as { code: string }).code, `${title} by ${way}`).to.equal(code);
        expect(JSON.stringify(event)).not.to.include(credentials.password);
        expect(seen).to.have.length(1);
      }
  });
});
