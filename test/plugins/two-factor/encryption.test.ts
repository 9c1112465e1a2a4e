import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { FreshDatabase } from '../../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../../support/service.ts';
import { createUserSender, statusAndCodeOf } from '../users/test-users.ts';
import {
  codeOf,
  createTwoFactorUser,
  enroll,
  forgetUsedSteps,
  makeEnforcingRole,
  type TwoFactorUser,
} from './two-factor-users.ts';

const WRONG_CODE = [401, 'INVALID_OTP'] as const;
const key = () => randomBytes(32).toString('base64');

describe('secrets of second factors at rest', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let service: InProcessService;
  let role: string;
  let person: TwoFactorUser;
  let secret: string;
  beforeEach(async () => {
    database = await createMigratedDatabase('two-factor-keys');
    await start();
    role = await makeEnforcingRole(service);
    person = await createTwoFactorUser(service, role);
    secret = await enroll(service, person);
  });
  afterEach(async () => {
    await service?.stop();
    await database?.drop();
  });

  async function start(encryptionKey?: string): Promise<void> {
    const env = { LOG_LEVEL: 'warn', ...(encryptionKey ? { SECRETS_ENCRYPTION_KEY: encryptionKey } : {}) };
    service = await startService({ database, env });
  }
  async function restart(encryptionKey?: string): Promise<void> {
    await service.stop();
    await start(encryptionKey);
    await forgetUsedSteps(database);
  }
  const login = (otp: string, { email, password } = person) =>
    service.request('POST', '/auth/login', { body: { email, password, otp } });
  const envelopeOf = async ({ id } = person): Promise<Record<string, string>> => {
    const [row] = await database.query<{ secret: string }>(
      'select secret from platform_second_factors where "user" = $1',
      [id],
    );
    return JSON.parse(row?.secret as string);
  };
  const warnings = () => service.log.filter(({ msg }) => String(msg).includes('second factor'));

  it('are encrypted by a key of the database where SECRETS_ENCRYPTION_KEY is not set', async () => {
    const envelope = await envelopeOf();
    expect(envelope).to.include({ $sealed: 1, alg: 'A256GCM-HKDF' });
    expect(JSON.stringify(envelope)).not.to.contain(secret);
    const keys = await database.query('select name, length(value) as length from platform_second_factor_keys');
    expect(keys).to.deep.equal([{ name: 'second factors', length: 44 }]);
    await restart();
    expect((await login(codeOf(secret))).status).to.equal(200);
  });

  it('share one key of the database, also where two processes make it at the same time', async () => {
    await service.stop();
    await database.query('delete from platform_second_factors');
    await database.query('delete from platform_second_factor_keys');
    await database.query('update platform_users set tfa_secret = null');
    await start();
    const other = await startService({ database });
    try {
      const users = await Promise.all([service, other].map((at) => createTwoFactorUser(at, role)));
      const offers = await Promise.all(
        users.map(
          async ({ send, password }) => (await send('POST', '/users/me/tfa/generate', { password })).body.data.secret,
        ),
      );
      const replies = await Promise.all(
        users.map(({ send }, at) =>
          send('POST', '/users/me/tfa/enable', { secret: offers[at], otp: codeOf(offers[at]) }),
        ),
      );
      expect(replies.map(({ status }) => status)).to.deep.equal([204, 204]);
      for (const [at, user] of users.entries())
        for (const [steps, process] of [service, other].entries()) {
          const body = { email: user.email, password: user.password, otp: codeOf(offers[at], steps) };
          await forgetUsedSteps(database);
          expect((await process.request('POST', '/auth/login', { body })).status).to.equal(200);
        }
    } finally {
      await other.stop();
    }
  });

  it('are encrypted anew by SECRETS_ENCRYPTION_KEY at the next sign-in after it is set', async () => {
    const before = await envelopeOf();
    const operatorKey = key();
    await restart(operatorKey);
    expect((await login(codeOf(secret))).status).to.equal(200);
    const after = await envelopeOf();
    expect(after.kid).not.to.equal(before.kid);
    await database.query('delete from platform_second_factor_keys');
    await restart(operatorKey);
    expect((await login(codeOf(secret))).status).to.equal(200);
    expect((await envelopeOf()).kid).to.equal(after.kid);
  });

  it('that were encrypted by another SECRETS_ENCRYPTION_KEY let no user in, until an admin resets them', async () => {
    await restart(key());
    expect((await login(codeOf(secret))).status).to.equal(200);
    for (const changed of [key(), undefined]) {
      await restart(changed);
      for (let at = 0; at < 30; at++) expect(statusAndCodeOf(await login(codeOf(secret)))).to.deep.equal(WRONG_CODE);
      // The log names the user once, and what to do.
      expect(warnings()).to.have.length(1);
      expect(warnings()[0]).to.include({ user: person.id });
      expect(JSON.stringify(warnings())).to.contain('SECRETS_ENCRYPTION_KEY').and.to.contain('users:tfa-reset');
    }
    const admin = createUserSender(service, service.admin.token);
    expect((await admin('POST', `/users/${person.id}/tfa/disable`)).status).to.equal(204);
    expect((await login('')).status).to.equal(200);
  });

  it('that cannot be decrypted leave the recovery codes usable', async () => {
    const body = { password: person.password, otp: codeOf(secret) };
    const [code] = (await person.send('POST', '/users/me/tfa/recovery-codes', body)).body.data.recovery_codes;
    await database.query('delete from platform_second_factor_keys');
    await restart();
    expect(statusAndCodeOf(await login(codeOf(secret)))).to.deep.equal(WRONG_CODE);
    expect((await login(code)).status).to.equal(200);
  });

  it('cannot be used by another user to whom the row was copied', async () => {
    const other = await createTwoFactorUser(service, role);
    await enroll(service, other);
    const copy = `update platform_second_factors set secret = (select secret from platform_second_factors where "user" = $1)
      where "user" = $2`;
    await database.query(copy, [person.id, other.id]);
    expect(statusAndCodeOf(await login(codeOf(secret), other))).to.deep.equal(WRONG_CODE);
    expect((await login(codeOf(secret))).status).to.equal(200);
  });

  it('that are missing let no user in whose tfa_secret is set', async () => {
    await database.query('delete from platform_second_factors');
    for (const otp of [codeOf(secret), 'x', '']) expect(statusAndCodeOf(await login(otp))).to.deep.equal(WRONG_CODE);
    expect(warnings()).to.have.length(1);
  });
});
