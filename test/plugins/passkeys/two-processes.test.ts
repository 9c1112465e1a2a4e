import { expect } from 'chai';
import type { FreshDatabase } from '../../support/database.ts';
import { createMigratedDatabase, type HttpReply, type SpawnedService, spawnService } from '../../support/service.ts';
import { statusAndCodeOf } from '../users/test-users.ts';
import {
  authenticator,
  beginRegistration,
  beginSignIn,
  createSignedInUser,
  PASSKEY_SETTINGS,
  registerPasskey,
  signInByPasskey,
} from './passkey-fixture.ts';

const INVALID_CREDENTIALS = [401, 'INVALID_CREDENTIALS'];
const accepted = (replies: readonly HttpReply[]) => replies.filter(({ status }) => status === 200).length;

describe('passkeys of two processes on one database', function () {
  this.timeout(240_000);
  let database: FreshDatabase;
  let services: readonly SpawnedService[] = [];
  let first: SpawnedService;
  let second: SpawnedService;

  before(async () => {
    database = await createMigratedDatabase('passkeys');
    const start = () => spawnService({ database, env: PASSKEY_SETTINGS });
    services = await Promise.all([start(), start()]);
    [first, second] = services as [SpawnedService, SpawnedService];
  });
  after(async () => {
    await Promise.all(services.map((one) => one.stop()));
    await database?.drop();
  });

  const post = (service: SpawnedService, credential: unknown) =>
    service.request('POST', '/auth/login/passkey', { body: { credential } });

  it('begin in one process and end in the other, registration and sign-in alike', async () => {
    const user = await createSignedInUser(first);
    const { passkey, credential } = authenticator.register(await beginRegistration(first.request, user));
    const added = await second.request('POST', '/users/me/passkeys', { token: user.token, body: { credential } });
    expect(added.status, JSON.stringify(added.body)).to.equal(200);
    const signedIn = await post(second, authenticator.signIn(await beginSignIn(first.request), passkey));
    expect(signedIn.status, JSON.stringify(signedIn.body)).to.equal(200);
  });

  it('are gone in both when the user is given to another provider, and stay when the provider is written unchanged', async () => {
    const user = await createSignedInUser(first);
    const passkey = await registerPasskey(first.request, user);
    const give = (provider: string) =>
      first.request('PATCH', `/users/${user.id}`, { token: first.admin.token, body: { provider } });
    expect((await give('default')).status).to.equal(200);
    expect((await post(second, authenticator.signIn(await beginSignIn(first.request), passkey))).status).to.equal(200);
    expect((await give('elsewhere')).status).to.equal(200);
    expect((await give('default')).status).to.equal(200);
    for (const service of [first, second]) {
      const reply = await post(service, authenticator.signIn(await beginSignIn(service.request), passkey));
      expect(statusAndCodeOf(reply)).to.deep.equal(INVALID_CREDENTIALS);
    }
  });

  it('refuse in one process a response that was used in the other', async () => {
    const passkey = await registerPasskey(first.request, await createSignedInUser(first));
    const credential = authenticator.signIn(await beginSignIn(first.request), passkey, { counter: 0 });
    expect((await post(first, credential)).status).to.equal(200);
    expect(statusAndCodeOf(await post(second, credential))).to.deep.equal(INVALID_CREDENTIALS);
  });

  it('accept one of 50 simultaneous uses of one response, and open one session', async () => {
    const user = await createSignedInUser(first);
    const passkey = await registerPasskey(first.request, user);
    const sessions = () => database.query('select 1 from platform_sessions where "user" = $1', [user.id]);
    const before = (await sessions()).length;
    const credential = authenticator.signIn(await beginSignIn(first.request), passkey, { counter: 0 });
    const replies = await Promise.all(Array.from({ length: 50 }, (_, at) => post(at % 2 ? first : second, credential)));
    expect(accepted(replies)).to.equal(1);
    expect((await sessions()).length).to.equal(before + 1);
  });

  it('accept one of many simultaneous responses with one counter', async () => {
    const passkey = await registerPasskey(first.request, await createSignedInUser(first));
    const credentials = await Promise.all(
      Array.from({ length: 20 }, async () =>
        authenticator.signIn(await beginSignIn(first.request), passkey, { counter: 5 }),
      ),
    );
    const replies = await Promise.all(credentials.map((one, at) => post(at % 2 ? first : second, one)));
    expect(accepted(replies)).to.equal(1);
  });

  it('store one passkey for many simultaneous registrations with one challenge', async () => {
    const user = await createSignedInUser(first);
    const options = await beginRegistration(first.request, user);
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, at) => {
        const { credential } = authenticator.register(options);
        const { request } = at % 2 ? first : second;
        return request('POST', '/users/me/passkeys', { token: user.token, body: { credential } });
      }),
    );
    expect(accepted(replies)).to.equal(1);
  });

  it('refuse in one process at once a passkey that was removed, and a user who was suspended, in the other', async () => {
    const user = await createSignedInUser(first);
    const [removed, kept] = [await registerPasskey(first.request, user), await registerPasskey(first.request, user)];
    expect((await signInByPasskey(second.request, removed)).status).to.equal(200);
    const path = `/users/me/passkeys/${removed.key}`;
    expect((await first.request('DELETE', path, { token: user.token })).status).to.equal(204);
    expect(statusAndCodeOf(await signInByPasskey(second.request, removed))).to.deep.equal(INVALID_CREDENTIALS);
    const { token } = first.admin;
    await first.request('PATCH', `/users/${user.id}`, { token, body: { status: 'suspended' } });
    expect(statusAndCodeOf(await signInByPasskey(second.request, kept))).to.deep.equal([401, 'USER_SUSPENDED']);
  });
});
