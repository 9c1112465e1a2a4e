import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import pg from 'pg';
import { type HttpReply, type InProcessService, startService, TEST_SECRET } from '../../support/service.ts';
import { FLAGS, type ResponseChanges } from '../../support/software-authenticator.ts';
import { until } from '../../support/until.ts';
import { statusAndCodeOf } from '../users/test-users.ts';
import {
  authenticator,
  beginRegistration,
  beginSignIn,
  createSignedInUser,
  ORIGIN,
  PASSKEY_SETTINGS,
  registerPasskey,
  type SignedInUser,
  signInByPasskey,
} from './passkey-fixture.ts';

const INVALID_CREDENTIALS = [401, 'INVALID_CREDENTIALS'];
const INVALID_PAYLOAD = [400, 'INVALID_PAYLOAD'];
const base64url = (text: string | Uint8Array) => Buffer.from(text as string).toString('base64url');
const challengeOf = (token: string) => ({ challenge: base64url(token) });
const another = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const handleOf = (user: string) => base64url(Buffer.from(user.replaceAll('-', ''), 'hex'));
const NOW = Math.floor(Date.now() / 1000);
const TOMORROW = { exp: NOW + 86_400 };
/** A challenge that the service has not signed, or not for a sign-in. */
const signed = (claims: object, secret = TEST_SECRET, algorithm: 'HS256' | 'none' = 'HS256') =>
  jwt.sign({ id: 'any', iss: 'service', ...claims }, secret, { algorithm });

/** Changes of an otherwise valid response. */
const CHANGED: readonly (readonly [string, ResponseChanges])[] = [
  ['from a page of another origin', { origin: 'https://evil.example' }],
  ['from another port of the host', { origin: 'http://localhost:8056' }],
  ['from the same host by https', { origin: 'https://localhost:8055' }],
  ['from an origin that begins with the right one', { origin: `${ORIGIN}.evil.example` }],
  ['from an origin in capitals', { origin: ORIGIN.toUpperCase() }],
  ['from a list of origins', { clientData: { origin: [ORIGIN] } }],
  ['without an origin', { clientData: { origin: undefined } }],
  ['from inside of a page of another origin', { clientData: { crossOrigin: true } }],
  [
    'from inside of another page that it names',
    { clientData: { crossOrigin: true, topOrigin: 'https://evil.example' } },
  ],
  ['with a top origin although it is not inside of a page', { clientData: { topOrigin: 'https://evil.example' } }],
  ['for another relying party', { rpId: 'evil.example' }],
  ['for a relying party below the right one', { rpId: 'a.localhost' }],
  ['for an empty relying party', { rpId: '' }],
  ['of the type of a registration', { type: 'webauthn.create' }],
  ['of the type of a payment', { type: 'payment.get' }],
  ['without a type', { clientData: { type: undefined } }],
  ['without the flag that the user was verified', { flags: FLAGS.present }],
  ['without the flag that the user was present', { flags: FLAGS.verified }],
  ['without any flag', { flags: 0 }],
  ['with a backup state that its flags exclude', { flags: FLAGS.present | FLAGS.verified | FLAGS.backedUp }],
  ['whose flags promise a key that is not there', { flags: FLAGS.present | FLAGS.verified | FLAGS.withKey }],
  ['with bytes behind the authenticator data', { trailer: new Uint8Array(8) }],
  ['signed by another key', { signer: another }],
  [
    'with a changed signature',
    { signature: (one) => Buffer.concat([one.subarray(0, -1), Buffer.from([(one.at(-1) as number) ^ 1])]) },
  ],
  ['with a signature that is too short', { signature: (one) => one.subarray(0, -8) }],
  ['with a signature of one byte', { signature: () => Buffer.from([0]) }],
  ['with a signature of zeros', { signature: () => Buffer.from('3006020100020100', 'hex') }],
  ['whose client data is no JSON', { clientDataText: 'no JSON' }],
  ['whose client data is null', { clientDataText: 'null' }],
  ['whose client data is a list', { clientDataText: '[]' }],
  ['whose authenticator data has 36 bytes', { response: { authenticatorData: base64url(new Uint8Array(36)) } }],
  [
    'whose authenticator data is of another response',
    { response: { authenticatorData: base64url(new Uint8Array(37)) } },
  ],
  ['with an unknown credential', { id: base64url(new Uint8Array(32)) }],
  ['with a raw id other than its id', { credential: { rawId: base64url(new Uint8Array(32)) } }],
  ['with the user handle of no user', { userHandle: base64url(new Uint8Array(16)) }],
  ['with the user handle as text of the key', { userHandle: base64url('a'.repeat(36)) }],
  ['whose challenge is no token', { challenge: base64url('challenge') }],
  ['whose challenge is empty', { challenge: '' }],
  ['whose challenge is a number', { clientData: { challenge: 7 } }],
  [
    'whose challenge is signed by another secret',
    challengeOf(signed({ scope: 'passkey-sign-in', ...TOMORROW }, 'another secret, as long as it has to be')),
  ],
  ['whose challenge is not signed', challengeOf(signed({ scope: 'passkey-sign-in', ...TOMORROW }, '', 'none'))],
  ['whose challenge is five minutes old', challengeOf(signed({ scope: 'passkey-sign-in', exp: NOW - 1 }))],
  ['whose challenge never ends', challengeOf(signed({ scope: 'passkey-sign-in' }))],
  ['whose challenge is a link for a password reset', challengeOf(signed({ scope: 'password-reset', ...TOMORROW }))],
  ['whose challenge is of a registration', challengeOf(signed({ scope: 'passkey-registration', ...TOMORROW }))],
];

/** Bodies of no valid form. */
const MALFORMED: readonly (readonly [string, (credential: Record<string, unknown>) => unknown])[] = [
  ['is empty', () => ({})],
  ['is a list', (credential) => [credential]],
  ['has the credential as text', (credential) => ({ credential: JSON.stringify(credential) })],
  ['has the members of the credential at the top', (credential) => credential],
  ['has further members', (credential) => ({ credential, user: 'admin' })],
  ['has a credential of another type', (credential) => ({ credential: { ...credential, type: 'password' } })],
  ['has no response', ({ response: _response, ...credential }) => ({ credential })],
  ['has an id of 1,365 characters', (credential) => ({ credential: { ...credential, id: 'a'.repeat(1365) } })],
  ['has an id that is no base64url', (credential) => ({ credential: { ...credential, id: "a' or 1=1 --" } })],
  ['has an id with a NUL character', (credential) => ({ credential: { ...credential, id: 'a\0' } })],
  ['has a list as id', (credential) => ({ credential: { ...credential, id: [credential.id] } })],
  ['has an unknown mode', (credential) => ({ credential, mode: 'admin' })],
];
const MALFORMED_RESPONSES: readonly (readonly [string, Record<string, unknown>])[] = [
  ['has no user handle', { userHandle: undefined }],
  ['has null as user handle', { userHandle: null }],
  ['has client data of 4,097 characters', { clientDataJSON: 'a'.repeat(4097) }],
  ['has authenticator data of 4,097 characters', { authenticatorData: 'a'.repeat(4097) }],
  ['has a signature of 1,025 characters', { signature: 'a'.repeat(1025) }],
  ['has an object as signature', { signature: { length: 1 } }],
];

describe('POST /auth/login/passkey', function () {
  this.timeout(120_000);
  let service: InProcessService;
  let request: InProcessService['request'];
  let user: SignedInUser;
  let passkey: Awaited<ReturnType<typeof registerPasskey>>;

  before(async () => {
    service = await startService({ env: { ...PASSKEY_SETTINGS, LOG_LEVEL: 'debug' } });
    request = service.request;
    user = await createSignedInUser(service);
    passkey = await registerPasskey(request, user);
  });
  after(() => service?.stop());

  const send = (body: unknown) => request('POST', '/auth/login/passkey', { body });
  /** The same without changes is accepted, so that the refusal is due to the change. */
  const expectUsable = async () => expect((await signInByPasskey(request, passkey)).status).to.equal(200);

  it('accepts a challenge that a test signs as the service does, so that the others are refused for their difference', async () => {
    const challenge = challengeOf(signed({ scope: 'passkey-sign-in', ...TOMORROW }));
    expect((await signInByPasskey(request, passkey, challenge)).status).to.equal(200);
  });

  for (const [title, changes] of CHANGED) {
    it(`rejects a response ${title} with INVALID_CREDENTIALS`, async () => {
      expect(statusAndCodeOf(await signInByPasskey(request, passkey, changes))).to.deep.equal(INVALID_CREDENTIALS);
      await expectUsable();
    });
  }

  for (const [title, bodyOf] of MALFORMED) {
    it(`rejects a body that ${title} with INVALID_PAYLOAD`, async () => {
      const credential = authenticator.signIn(await beginSignIn(request), passkey);
      expect(statusAndCodeOf(await send(bodyOf(credential)))).to.deep.equal(INVALID_PAYLOAD);
    });
  }
  for (const [title, response] of MALFORMED_RESPONSES) {
    it(`rejects a response that ${title} with INVALID_PAYLOAD`, async () => {
      expect(statusAndCodeOf(await signInByPasskey(request, passkey, { response }))).to.deep.equal(INVALID_PAYLOAD);
    });
  }

  it('rejects a response whose signed parts were changed after they were signed', async () => {
    for (const [name, change] of [
      ['clientDataJSON', (bytes: Buffer) => Buffer.from(JSON.stringify({ ...JSON.parse(String(bytes)), more: 1 }))],
      ['authenticatorData', (bytes: Buffer) => bytes.with(32, (bytes[32] as number) | FLAGS.synced)],
    ] as const) {
      const credential = authenticator.signIn(await beginSignIn(request), passkey);
      const response = credential.response as Record<string, string>;
      response[name] = base64url(change(Buffer.from(response[name] as string, 'base64url')));
      expect(statusAndCodeOf(await send({ credential })), name).to.deep.equal(INVALID_CREDENTIALS);
    }
  });

  it('rejects a body over MAX_PAYLOAD_SIZE with CONTENT_TOO_LARGE', async () => {
    const reply = await send({ credential: { id: 'a'.repeat(1_100_000) } });
    expect(statusAndCodeOf(reply)).to.deep.equal([413, 'CONTENT_TOO_LARGE']);
  });

  it('rejects a response that is sent a second time', async () => {
    const credential = authenticator.signIn(await beginSignIn(request), passkey, { counter: 0 });
    // A passkey whose counter does not rise, so that the challenge alone refuses the second time.
    const still = await registerPasskey(request, user);
    const replayed = authenticator.signIn(await beginSignIn(request), still, { counter: 0 });
    expect((await send({ credential: replayed })).status).to.equal(200);
    expect(statusAndCodeOf(await send({ credential: replayed }))).to.deep.equal(INVALID_CREDENTIALS);
    expect(statusAndCodeOf(await send({ credential }))).to.deep.equal(INVALID_CREDENTIALS);
  });

  it('rejects a second response to one challenge, also by another passkey', async () => {
    const other = await registerPasskey(request, await createSignedInUser(service));
    const options = await beginSignIn(request);
    expect((await send({ credential: authenticator.signIn(options, passkey) })).status).to.equal(200);
    for (const one of [passkey, other])
      expect(statusAndCodeOf(await send({ credential: authenticator.signIn(options, one) }))).to.deep.equal(
        INVALID_CREDENTIALS,
      );
  });

  it('rejects the challenge of a registration of the same user', async () => {
    const options = await beginRegistration(request, user);
    const credential = authenticator.signIn({ challenge: options.challenge }, passkey);
    expect(statusAndCodeOf(await send({ credential }))).to.deep.equal(INVALID_CREDENTIALS);
  });

  it('rejects the passkey of one user with the user handle of another, and with the credential of another', async () => {
    const victim = await createSignedInUser(service);
    const target = await registerPasskey(request, victim);
    for (const changes of [
      { userHandle: handleOf(victim.id) },
      { id: target.id },
      { id: target.id, userHandle: handleOf(victim.id) },
    ])
      expect(statusAndCodeOf(await signInByPasskey(request, passkey, changes))).to.deep.equal(INVALID_CREDENTIALS);
    expect((await signInByPasskey(request, target)).status).to.equal(200);
  });

  it('rejects a counter that went back or stood still, and logs it once the signature is valid', async () => {
    const counting = await registerPasskey(request, user);
    expect((await signInByPasskey(request, counting, { counter: 10 })).status).to.equal(200);
    const warnings = () =>
      service.log.filter(({ msg, passkey: id }) => /counter/.test(String(msg)) && id === counting.key);
    const forged = await signInByPasskey(request, counting, { counter: 1, signer: another });
    expect(statusAndCodeOf(forged)).to.deep.equal(INVALID_CREDENTIALS);
    expect(warnings()).to.have.length(0);
    for (const counter of [10, 9, 0])
      expect(statusAndCodeOf(await signInByPasskey(request, counting, { counter })), String(counter)).to.deep.equal(
        INVALID_CREDENTIALS,
      );
    expect(warnings()).to.have.length(3);
    expect(warnings()[0]).to.include({ user: user.id, level: 40 });
    expect((await signInByPasskey(request, counting, { counter: 11 })).status).to.equal(200);
  });

  it('rejects a challenge or a response in place of an access token', async () => {
    const { challenge } = await beginSignIn(request);
    const token = Buffer.from(challenge, 'base64url').toString();
    expect(statusAndCodeOf(await request('GET', '/users/me', { token }))).to.deep.equal([403, 'INVALID_TOKEN']);
  });

  it('writes neither challenges nor signatures to the log', async () => {
    const { challenge } = await beginSignIn(request);
    const credential = authenticator.signIn({ challenge }, passkey, { origin: 'https://evil.example' });
    await send({ credential });
    const text = JSON.stringify(service.log);
    expect(text).to.contain('evil.example');
    expect(text)
      .not.to.contain(challenge)
      .and.not.to.contain((credential.response as { signature: string }).signature);
    expect(text).not.to.contain(Buffer.from(challenge, 'base64url').toString());
  });

  it('stores no row for challenges that no valid response has spent', async () => {
    const count = async () =>
      Number(
        (await service.database.query<{ count: string }>('select count(*) from platform_passkey_challenges'))[0]?.count,
      );
    const before = await count();
    for (let left = 20; left > 0; left--) await signInByPasskey(request, passkey, { signer: another });
    expect(await count()).to.equal(before);
    await expectUsable();
    expect(await count()).to.equal(before + 1);
  });

  it('verifies a few sign-ins of one address at a time, and refuses more than 64 that wait with SERVICE_UNAVAILABLE', async () => {
    const still = await registerPasskey(request, user);
    const challenges = await Promise.all(Array.from({ length: 90 }, () => beginSignIn(request)));
    const holder = new pg.Client({ connectionString: service.database.url });
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('select from platform_passkeys where id = $1 for update', [still.key]);
      const replies: HttpReply[] = [];
      const sent = challenges.map(async (options) => {
        const credential = authenticator.signIn(options, still, { counter: 0 });
        replies.push(await send({ credential }));
      });
      await until(() => replies.length >= 20);
      await holder.query('rollback');
      await Promise.all(sent);
      const refused = replies.filter(({ status }) => status !== 200);
      expect(refused.length).to.be.within(20, 89);
      for (const reply of refused) {
        expect(statusAndCodeOf(reply)).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
        expect(reply.headers.get('retry-after')).to.equal('2');
      }
    } finally {
      await holder.end();
    }
    await expectUsable();
  });

  it('removes spent challenges that are too old with the next sign-in', async () => {
    await service.database.query('delete from platform_passkey_challenges');
    for (let left = 3; left > 0; left--) await expectUsable();
    await service.database.query("update platform_passkey_challenges set expires = now() - interval '1 second'");
    await expectUsable();
    const rows = await service.database.query('select 1 from platform_passkey_challenges');
    expect(rows).to.have.length(1);
  });
});
