import { expect } from 'chai';
import type { Host } from '#kernel';
import { type TestComposition, writeTestPluginPackages } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';
import { type ProviderFixture, startProviderFixture } from './provider-fixture.ts';

describe('filters of auth.create and auth.update', function () {
  this.timeout(120_000);
  let fixture: ProviderFixture;
  let listener: TestComposition;
  let payloads: { event: string; payload: Record<string, unknown>; meta: Record<string, unknown> }[] = [];
  const actions: Record<string, unknown>[] = [];
  let adminRole: string;
  let change: Record<string, unknown> = {};

  before(async () => {
    listener = await writeTestPluginPackages([
      {
        name: 'account-listener',
        manifest: { capabilities: { events: { filter: ['auth.create', 'auth.update'], action: ['auth.login'] } } },
        register(host: Host) {
          host.events.onAction('auth.login', (meta) => void actions.push({ ...meta }));
          for (const event of ['auth.create', 'auth.update'])
            host.events.onFilter(event, (payload, meta) => {
              payloads.push({ event, payload: { ...(payload as object) }, meta: { ...meta } });
              return { ...(payload as object), ...change };
            });
        },
      },
    ]);
    fixture = await startProviderFixture({ plugins: listener.composition.plugins });
    const [role] = await fixture.service.database.query<{ id: string }>(
      'select id from platform_roles where admin_access limit 1',
    );
    adminRole = role?.id as string;
  });
  beforeEach(() => {
    payloads = [];
    change = {};
  });
  after(async () => {
    await fixture?.stop();
    await listener?.remove();
  });

  const row = async () =>
    (
      await fixture.service.database.query(
        'select first_name, title, role, status, provider, external_identifier from platform_users where email = $1',
        [fixture.server.user.email],
      )
    )[0];

  it('get names and address with provider, identifier and claims, and no token', async () => {
    fixture.server.user = { sub: 'one', email: 'one@example.com', email_verified: true, given_name: 'Ann', desk: 7 };
    await fixture.signIn('oidc');
    await fixture.signIn('oidc');
    expect(payloads.map(({ event }) => event)).to.deep.equal(['auth.create', 'auth.update']);
    expect(payloads[0]?.payload).to.include({ email: 'one@example.com', first_name: 'Ann' });
    expect(payloads[0]?.meta).to.include({ provider: 'oidc', identifier: 'one' });
    expect(payloads[0]?.meta.providerPayload).to.include({ sub: 'one', desk: 7 });
    const shown = JSON.stringify(payloads.map(({ payload, meta }) => [payload, meta.providerPayload]));
    for (const token of fixture.server.refreshTokens) expect(shown).not.to.contain(token);
  });

  it('change names and preferences, and nothing that decides who the user is and what the user may do', async () => {
    fixture.server.user = { sub: 'two', email: 'two@example.com', email_verified: true };
    change = {
      first_name: 'Bea',
      title: 'Editor',
      role: adminRole,
      status: 'suspended',
      provider: 'default',
      external_identifier: 'another',
      password: 'a password that is long enough',
    };
    expect((await fixture.signIn('oidc')).status).to.equal(200);
    const expected = {
      first_name: 'Bea',
      title: 'Editor',
      role: fixture.roles.member,
      status: 'active',
      provider: 'oidc',
      external_identifier: 'two',
    };
    expect(await row()).to.deep.equal(expected);
    expect((await fixture.signIn('oidc')).status).to.equal(200);
    expect(await row()).to.deep.equal(expected);
  });

  it('a sign-in that the provider cannot prove is the action auth.login with the status fail', async () => {
    fixture.server.user = { sub: 'four', email: 'four@example.com' };
    const { code } = await fixture.signIn('oidc', { callback: (url) => url.searchParams.set('code', 'another') });
    expect(code).to.equal('INVALID_CREDENTIALS');
    await until(() => actions.length > 0);
    expect(actions.at(-1)).to.deep.include({ status: 'fail', provider: 'oidc', payload: {} });
    expect(actions.at(-1)?.error).to.deep.equal({ message: 'Invalid user credentials.', code: 'INVALID_CREDENTIALS' });
  });

  it('are written as activity of the service, with a revision that has no identifier', async () => {
    fixture.server.user = { sub: 'three-is-secret', email: 'three@example.com', email_verified: true };
    await fixture.signIn('oidc');
    const [user] = await fixture.service.database.query<{ id: string }>(
      'select id from platform_users where email = $1',
      ['three@example.com'],
    );
    const activity = await fixture.service.database.query<{ action: string }>(
      "select action from platform_activity where collection = 'platform_users' and item = $1 order by id",
      [user?.id],
    );
    expect(activity.map(({ action }) => action)).to.deep.equal(['create', 'login']);
    const revisions = JSON.stringify(await fixture.service.database.query('select * from platform_revisions'));
    expect(revisions).to.contain('three@example.com').and.not.to.contain('three-is-secret');
  });
});
