import { expect } from 'chai';
import { type InProcessService, type SpawnedService, spawnService, startService } from '../../support/service.ts';
import { createUserSender, errorCodeOf, type SendAsUser, statusAndCodeOf } from '../users/test-users.ts';
import {
  codeOf,
  createTwoFactorUser,
  enroll,
  makeEnforcingRole,
  type TwoFactorUser,
  wrongCodeOf,
} from './two-factor-users.ts';

const WRONG_CODE = [401, 'INVALID_OTP'] as const;
const SUSPENDED = [401, 'USER_SUSPENDED'] as const;
/** Milliseconds. Long enough that a check of a password with cheap hashes ends sooner. */
const STALL = 250;

describe('two processes with second factors', function () {
  this.timeout(120_000);
  /** In the process of the tests, for their own requests. */
  let ground: InProcessService;
  let here: SpawnedService;
  let there: SpawnedService;
  let admin: SendAsUser;
  let role: string;
  let person: TwoFactorUser;
  let secret: string;
  before(async () => {
    ground = await startService();
    // Requests of one test come from several networks, so that none of them waits for another one of its network.
    const options = { database: ground.database, env: { IP_TRUST_PROXY: 'true', LOGIN_STALL_TIME: String(STALL) } };
    [here, there] = await Promise.all([spawnService(options), spawnService(options)]);
    admin = createUserSender(ground, ground.admin.token);
    role = await makeEnforcingRole(ground);
  });
  beforeEach(async () => {
    await admin('PATCH', '/settings', { auth_login_attempts: 1000 });
    person = await createTwoFactorUser(ground, role);
    secret = await enroll(ground, person);
  });
  after(async () => {
    await Promise.all([here?.stop(), there?.stop()]);
    await ground?.stop();
  });

  const loginFrom = (network: number, otp: string) =>
    (network % 2 ? here : there).request('POST', '/auth/login', {
      body: { email: person.email, password: person.password, otp },
      headers: { 'x-forwarded-for': `10.${network}.0.1` },
    });
  const expectOneWinner = async (otp: string) => {
    const replies = await Promise.all(Array.from({ length: 50 }, (_, at) => loginFrom(at, otp)));
    expect(replies.filter(({ status }) => status === 200)).to.have.length(1);
    const others = replies.filter(({ status }) => status !== 200).map(errorCodeOf);
    // A machine that is busy may answer some of them 503, as it does to passwords.
    expect(others.every((code) => code === 'INVALID_OTP' || code === 'SERVICE_UNAVAILABLE')).to.equal(true);
    expect(others).to.contain('INVALID_OTP');
  };

  it('open one session for 50 simultaneous sign-ins with one code', () => expectOneWinner(codeOf(secret, 1)));

  it('open one session for 50 simultaneous sign-ins with one recovery code', async () => {
    const body = { password: person.password, otp: codeOf(secret, 1) };
    const { data } = (await person.send('POST', '/users/me/tfa/recovery-codes', body)).body;
    await expectOneWinner(data.recovery_codes[0]);
  });

  it('refuse a code that the other process has used', async () => {
    const otp = codeOf(secret, 1);
    expect((await loginFrom(0, otp)).status).to.equal(200);
    for (const network of [0, 1]) expect(statusAndCodeOf(await loginFrom(network, otp))).to.deep.equal(WRONG_CODE);
  });

  it('accept one code either for a sign-in or for turning the second factor off', async () => {
    const otp = codeOf(secret, 1);
    const [signIn, disable] = await Promise.all([
      loginFrom(0, otp),
      person.send('POST', '/users/me/tfa/disable', { otp }),
    ]);
    const replies = [signIn, disable];
    expect(replies.filter(({ status }) => status < 300)).to.have.length(1);
    expect(replies.filter((reply) => errorCodeOf(reply) === 'INVALID_OTP')).to.have.length(1);
  });

  it('count wrong codes together, and refuse the suspended user both', async () => {
    await admin('PATCH', '/settings', { auth_login_attempts: 5 });
    for (let at = 0; at < 5; at++)
      expect(statusAndCodeOf(await loginFrom(at, wrongCodeOf(secret)))).to.deep.equal(WRONG_CODE);
    for (const network of [0, 1])
      expect(statusAndCodeOf(await loginFrom(network, codeOf(secret)))).to.deep.equal(SUSPENDED);
  });

  it('answer a wrong code no sooner than a wrong password: both after LOGIN_STALL_TIME', async () => {
    const durationOf = async (body: Record<string, unknown>, code: string): Promise<number> => {
      const started = performance.now();
      expect(errorCodeOf(await person.login(body, here))).to.equal(code);
      return performance.now() - started;
    };
    // Timers of Node may end a millisecond early. How long an answer takes at most depends on the machine.
    for (const time of [
      await durationOf({ otp: wrongCodeOf(secret) }, 'INVALID_OTP'),
      await durationOf({}, 'INVALID_OTP'),
      await durationOf({ password: 'wrong', otp: codeOf(secret) }, 'INVALID_CREDENTIALS'),
    ])
      expect(time).to.be.at.least(STALL - 2);
  });

  it('keep the second factor of a user whose sign-in was interrupted by a kill', async () => {
    const doomed = await spawnService({ database: ground.database, env: { LOGIN_STALL_TIME: '0' } });
    const otp = wrongCodeOf(secret);
    const replies = Promise.allSettled(Array.from({ length: 3 }, () => person.login({ otp }, doomed)));
    await doomed.kill('SIGKILL');
    await replies;
    await doomed.stop();
    expect(statusAndCodeOf(await person.login())).to.deep.equal(WRONG_CODE);
    expect((await person.login({ otp: codeOf(secret, 1) })).status).to.equal(200);
  });
});
