import { expect } from 'chai';
import { runCommand } from '../../support/run-command.ts';
import {
  FIRST_ADMIN_CREDENTIALS,
  type InProcessService,
  QUICK_HASH_SETTINGS,
  startService,
  TEST_SECRET,
} from '../../support/service.ts';
import { createUserSender, statusAndCodeOf } from '../users/test-users.ts';
import { createTwoFactorUser, enroll, makeEnforcingRole } from './two-factor-users.ts';

describe('the command users:tfa-reset', function () {
  this.timeout(120_000);
  let service: InProcessService;
  before(async () => {
    service = await startService();
  });
  after(() => service?.stop());

  async function run(...args: readonly string[]): Promise<readonly [number | null, string]> {
    const command = await runCommand(['users:tfa-reset', ...args], {
      ...QUICK_HASH_SETTINGS,
      LOG_LEVEL: 'silent',
      CONFIG_PATH: '/dev/null',
      EXTENSIONS_PATH: '/dev/null',
      DB_CONNECTION_STRING: service.database.url,
      SECRET: TEST_SECRET,
      ADMIN_EMAIL: FIRST_ADMIN_CREDENTIALS.email,
      ADMIN_PASSWORD: FIRST_ADMIN_CREDENTIALS.password,
    });
    return [command.code, command.output.trim()];
  }

  it('turns the second factor of a user off, and records that no user did it', async () => {
    const person = await createTwoFactorUser(service, await makeEnforcingRole(service));
    await enroll(service, person);
    expect(statusAndCodeOf(await person.login())).to.deep.equal([401, 'INVALID_OTP']);
    expect(await run(person.email.toUpperCase())).to.deep.equal([
      0,
      `The second factor of ${person.email.toUpperCase()} is off.`,
    ]);
    expect((await person.login()).status).to.equal(200);
    expect(await run(person.email)).to.deep.equal([0, `${person.email} had no second factor.`]);
    const admin = createUserSender(service, service.admin.token);
    const query = `filter[action][_eq]=tfa-disable&filter[item][_eq]=${person.id}&fields=user,owner`;
    const { data } = (await admin('GET', `/activity?${query}`)).body;
    expect(data).to.deep.equal([{ user: null, owner: '@tenon/two-factor@1.0.0' }]);
  });

  it('fails for an unknown address, and without one', async () => {
    expect(await run('unknown@example.com')).to.deep.equal([1, 'No user has the address unknown@example.com.']);
    expect(await run()).to.deep.equal([2, 'Usage: users:tfa-reset <email>']);
    expect((await run('a@example.com', 'b'))[0]).to.equal(2);
  });
});
