import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { type InProcessService, startService, TEST_SECRET } from '../../support/service.ts';
import { type CborValue, coseKeyOf, FLAGS, type ResponseChanges } from '../../support/software-authenticator.ts';
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

const INVALID_PAYLOAD = [400, 'INVALID_PAYLOAD'];
const base64url = (text: string | Uint8Array) => Buffer.from(text as string).toString('base64url');
const map = (...entries: readonly (readonly [CborValue, CborValue])[]) => new Map<CborValue, CborValue>(entries);
const p256 = () => coseKeyOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey);
const rsaKey = (bytes: number, exponent = Buffer.from([1, 0, 1]), alg = -257) =>
  map([1, 3], [3, alg], [-1, Buffer.alloc(bytes, 0xff)], [-2, exponent]);
const okp = (alg: number, crv = 6, x = Buffer.alloc(32, 7)) => map([1, 1], [3, alg], [-1, crv], [-2, x]);

/** Changes of an otherwise valid response. */
const CHANGED: readonly (readonly [string, ResponseChanges])[] = [
  ['from a page of another origin', { origin: 'https://evil.example' }],
  ['from an origin that begins with the right one', { origin: `${ORIGIN}.evil.example` }],
  ['from inside of a page of another origin', { clientData: { crossOrigin: true } }],
  ['for another relying party', { rpId: 'evil.example' }],
  ['of the type of a sign-in', { type: 'webauthn.get' }],
  ['without the flag that the user was verified', { flags: FLAGS.present | FLAGS.withKey }],
  ['without the flag that the user was present', { flags: FLAGS.verified | FLAGS.withKey }],
  ['without a key', { flags: FLAGS.present | FLAGS.verified }],
  ['with bytes behind the authenticator data', { trailer: new Uint8Array(4) }],
  ['whose challenge is no token', { challenge: base64url('challenge') }],
  ['whose client data is no JSON', { clientDataText: '{' }],
  ['whose client data is null', { clientDataText: 'null' }],
  ['whose id is not that of the authenticator data', { credential: { id: 'QQ', rawId: 'QQ' } }],
  ['whose raw id is not its id', { credential: { rawId: 'QQ' } }],
  ['with a key of ES256 on the curve P-384', { publicKey: new Map([...p256(), [-1, 2]]) }],
  ['with a key of ES256 that is one of RSA', { publicKey: rsaKey(256, undefined, -7) }],
  ['with a key of RS256 that is one of P-256', { publicKey: new Map([...p256(), [3, -257]]) }],
  ['with a key of EdDSA that is one of P-256', { publicKey: new Map([...p256(), [3, -8]]) }],
  ['with a key of ES256 that is one of Ed25519', { publicKey: okp(-7) }],
  ['with a key of Ed448', { publicKey: okp(-8, 7, Buffer.alloc(57, 7)) }],
  ['with a key without an algorithm', { publicKey: map([1, 2], [-1, 1]) }],
  ['with a key of RSA with SHA-1', { publicKey: rsaKey(256, undefined, -65535) }],
  ['with a key of RSA of 1,024 bits', { publicKey: rsaKey(128) }],
  ['with a key of RSA of 8,192 bits', { publicKey: rsaKey(1024) }],
  ['with a key of RSA whose exponent is long', { publicKey: rsaKey(256, Buffer.alloc(256, 0xff)) }],
  ['with an algorithm as text', { publicKey: new Map<CborValue, CborValue>([...p256(), [3, 'none']]) }],
  ['with a list as key', { publicKey: [1, 2, 3] }],
  ['with an attestation of a format that there is not', { attestation: map(['fmt', 'mine'], ['attStmt', map()]) }],
  [
    'with an attestation "none" that has a statement',
    { attestation: map(['fmt', 'none'], ['attStmt', map(['sig', new Uint8Array(8)])]) },
  ],
  [
    'with an attestation by certificates',
    {
      attestation: map(
        ['fmt', 'packed'],
        ['attStmt', map(['alg', -7], ['sig', new Uint8Array(8)], ['x5c', [new Uint8Array(8)]])],
      ),
    },
  ],
  ['with an attestation of a TPM', { attestation: map(['fmt', 'tpm'], ['attStmt', map(['ver', '2.0'])]) }],
  [
    'with an attestation of Android',
    { attestation: map(['fmt', 'android-safetynet'], ['attStmt', map(['ver', '1'], ['response', new Uint8Array(8)])]) },
  ],
  [
    'with an attestation that another key has signed',
    { attestation: map(['fmt', 'packed'], ['attStmt', map(['alg', -7], ['sig', new Uint8Array(70)])]) },
  ],
  ['with a list as attestation statement', { attestation: map(['fmt', 'packed'], ['attStmt', []]) }],
  ['whose attestation is no CBOR', { response: { attestationObject: 'AAAA' } }],
  [
    'whose attestation claims a text of 4 GB',
    { response: { attestationObject: base64url(Buffer.from('a163666d747affffffff', 'hex')) } },
  ],
  [
    'whose attestation is nested deeply',
    { response: { attestationObject: base64url(new Uint8Array(12_000).fill(0x81)) } },
  ],
  ['whose attestation has 16,385 characters', { response: { attestationObject: 'a'.repeat(16_385) } }],
  ['whose client data has 4,097 characters', { response: { clientDataJSON: 'a'.repeat(4097) } }],
  ['with transports that are no list', { response: { transports: 'usb' } }],
  ['with 17 transports', { response: { transports: Array(17).fill('usb') } }],
  ['of another type of credential', { credential: { type: 'password' } }],
];

describe('POST /users/me/passkeys', function () {
  this.timeout(120_000);
  let service: InProcessService;
  let request: InProcessService['request'];
  let user: SignedInUser;

  before(async () => {
    service = await startService({ env: PASSKEY_SETTINGS });
    request = service.request;
    user = await createSignedInUser(service);
  });
  after(() => service?.stop());
  afterEach(() => service.database.query('delete from platform_passkeys'));

  const finish = (credential: unknown, { token }: Pick<SignedInUser, 'token'> = user) =>
    request('POST', '/users/me/passkeys', { token, body: { credential } });
  const stored = () => service.database.query('select 1 from platform_passkeys');

  for (const [title, changes] of CHANGED) {
    it(`rejects a response ${title} with INVALID_PAYLOAD, and stores nothing`, async () => {
      const { credential } = authenticator.register(await beginRegistration(request, user), changes);
      expect(statusAndCodeOf(await finish(credential))).to.deep.equal(INVALID_PAYLOAD);
      expect(await stored()).to.deep.equal([]);
    });
  }

  it('takes an attestation that the new key itself has signed', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const credential = selfAttested(await beginRegistration(request, user), publicKey, privateKey);
    expect((await finish(credential)).status).to.equal(200);
  });

  it('rejects the challenge of another user', async () => {
    const attacker = await createSignedInUser(service);
    const { credential } = authenticator.register(await beginRegistration(request, attacker));
    expect(statusAndCodeOf(await finish(credential))).to.deep.equal(INVALID_PAYLOAD);
    const { credential: stolen } = authenticator.register(await beginRegistration(request, user));
    expect(statusAndCodeOf(await finish(stolen, attacker))).to.deep.equal(INVALID_PAYLOAD);
    expect(await stored()).to.deep.equal([]);
  });

  it('rejects the challenge of a sign-in, an old one, and one without a proof of the password', async () => {
    const { credential } = authenticator.register(await beginSignIn(request));
    expect(statusAndCodeOf(await finish(credential))).to.deep.equal(INVALID_PAYLOAD);
    const now = Math.floor(Date.now() / 1000);
    const claims = { id: 'any', iss: 'service', scope: 'passkey-registration', user: user.id };
    for (const [more, expected] of [
      [{ exp: now - 1 }, INVALID_PAYLOAD],
      [{ exp: now + 300 }, [401, 'INVALID_CREDENTIALS']],
      [{ exp: now + 300, passwordDigest: '' }, [401, 'INVALID_CREDENTIALS']],
    ] as const) {
      const challenge = base64url(jwt.sign({ ...claims, ...more }, TEST_SECRET, { algorithm: 'HS256' }));
      expect(statusAndCodeOf(await finish(authenticator.register({ challenge }).credential))).to.deep.equal(expected);
    }
    expect(await stored()).to.deep.equal([]);
  });

  it('rejects a second passkey by one challenge, and a response that is sent a second time', async () => {
    const options = await beginRegistration(request, user);
    const { credential } = authenticator.register(options);
    expect((await finish(credential)).status).to.equal(200);
    expect(statusAndCodeOf(await finish(credential))).to.deep.equal([400, 'RECORD_NOT_UNIQUE']);
    expect(statusAndCodeOf(await finish(authenticator.register(options).credential))).to.deep.equal(INVALID_PAYLOAD);
    expect(await stored()).to.have.length(1);
  });

  it('rejects a credential that another user has, and leaves it to that user', async () => {
    const victim = await createSignedInUser(service);
    const passkey = await registerPasskey(request, victim);
    const { credential } = authenticator.register(await beginRegistration(request, user), { id: passkey.id });
    expect(statusAndCodeOf(await finish(credential))).to.deep.equal([400, 'RECORD_NOT_UNIQUE']);
    expect((await signInByPasskey(request, passkey)).status).to.equal(200);
  });

  it('gives one credential that two users register at once to one of them', async () => {
    const other = await createSignedInUser(service);
    const id = base64url(crypto.getRandomValues(new Uint8Array(32)));
    const credentials = await Promise.all(
      [user, other].map(
        async (one) => authenticator.register(await beginRegistration(request, one), { id }).credential,
      ),
    );
    const replies = await Promise.all([finish(credentials[0]), finish(credentials[1], other)]);
    expect(replies.map(statusAndCodeOf).sort()).to.deep.equal([
      [200, undefined],
      [400, 'RECORD_NOT_UNIQUE'],
    ]);
    expect(await stored()).to.have.length(1);
  });

  it('rejects requests without a user, and with the token of a user who was deleted or suspended meanwhile', async () => {
    const gone = await createSignedInUser(service);
    const { credential } = authenticator.register(await beginRegistration(request, gone));
    expect(statusAndCodeOf(await finish(credential, { token: '' }))).to.deep.equal([401, 'INVALID_CREDENTIALS']);
    const path = `/users/${gone.id}`;
    await request('PATCH', path, { token: service.admin.token, body: { status: 'suspended' } });
    expect(statusAndCodeOf(await finish(credential, gone))).to.deep.equal([401, 'USER_SUSPENDED']);
    await request('DELETE', path, { token: service.admin.token });
    expect((await finish(credential, gone)).status).to.equal(401);
    expect(await stored()).to.deep.equal([]);
  });

  it('takes no owner, key, counter or date from the body', async () => {
    const victim = await createSignedInUser(service);
    const { credential } = authenticator.register(await beginRegistration(request, user));
    const id = crypto.randomUUID();
    const body = {
      credential,
      id,
      user: victim.id,
      user_id: victim.id,
      counter: 9,
      last_used: '2020-01-01',
      public_key: 'x',
    };
    const reply = await request('POST', '/users/me/passkeys', { token: user.token, body });
    expect(reply.status).to.equal(200);
    const rows = await service.database.query<Record<string, unknown>>('select * from platform_passkeys');
    expect(rows[0]).to.include({ user: user.id, counter: '0', last_used: null });
    expect(rows[0]?.id).not.to.equal(id);
  });

  it('keeps the tables out of every other route', async () => {
    await registerPasskey(request, user);
    const { token } = service.admin;
    for (const table of ['platform_passkeys', 'platform_passkey_challenges'])
      for (const path of [`/items/${table}`, `/${table.slice('platform_'.length).replace('_', '-')}`]) {
        const { status } = await request('GET', path, { token });
        expect(status, path).to.be.within(403, 404);
      }
    const read = await request('GET', '/users/me?fields=*,passkeys.*', { token: user.token });
    expect(read.status, JSON.stringify(read.body)).to.be.within(200, 403);
    expect(JSON.stringify(read.body)).not.to.contain('public_key');
  });
});

/** A registration whose attestation `packed` is signed by its own key, which browsers pass on as it is. */
function selfAttested(options: { readonly challenge: string }, publicKey: KeyObject, privateKey: KeyObject) {
  const id = base64url(crypto.getRandomValues(new Uint8Array(32)));
  const changes = { id, publicKey: coseKeyOf(publicKey) };
  const unsigned = authenticator.register(options, changes).credential.response as Record<string, string>;
  const object = Buffer.from(unsigned.attestationObject as string, 'base64url');
  // The authenticator data is the last member, behind its name and a head of three bytes.
  const authData = object.subarray(object.indexOf('authData') + 'authData'.length + 2);
  const clientData = Buffer.from(unsigned.clientDataJSON as string, 'base64url');
  const hash = createHash('sha256').update(clientData).digest();
  const sig = sign('sha256', Buffer.concat([authData, hash]), privateKey);
  return authenticator.register(options, {
    ...changes,
    attestation: map(['fmt', 'packed'], ['attStmt', map(['alg', -7], ['sig', sig])]),
  }).credential;
}
