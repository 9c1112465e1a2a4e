import { expect } from 'chai';
import { PUBLIC_ROLE_ID } from '../../../plugins/access/contract.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import {
  QUICK_HASH_SETTINGS,
  type RunningTestService,
  runCli,
  startService,
  TEST_SECRET,
} from '../../support/service.ts';

describe('the first start', () => {
  let database: FreshDatabase;
  beforeEach(async () => {
    database = await freshDatabase('first');
  });
  afterEach(() => database.drop());

  const environment = () => ({
    ...QUICK_HASH_SETTINGS,
    DB_CONNECTION_STRING: database.url,
    CONFIG_PATH: '/dev/null',
    LOG_LEVEL: 'error',
    SECRET: TEST_SECRET,
  });
  const people = () => database.query('select email, status from platform_users');

  it('creates the Public role, one admin role and one admin', async function () {
    this.timeout(120_000);
    const service = await startService({ database });
    await service.stop();
    const roles = await database.query(
      'select id::text, key, name, admin_access, app_access, icon from platform_roles order by key',
    );
    expect(roles[0]).to.include({
      key: 'administrator',
      name: 'Administrator',
      admin_access: true,
      app_access: true,
      icon: 'verified',
    });
    expect(roles[1]).to.include({ id: PUBLIC_ROLE_ID, key: 'public', admin_access: false, app_access: false });
    expect(roles).to.have.length(2);
    expect(await people()).to.deep.equal([{ email: 'admin@example.com', status: 'active' }]);
  });

  it('prints a generated password once, which signs the admin in', async function () {
    this.timeout(120_000);
    const first = runCli(['bootstrap'], { ...environment(), ADMIN_EMAIL: 'boss@example.com' });
    expect(await first.ended, first.output()).to.equal(0);
    const password = /password {2}(\S+)/.exec(first.output())?.[1];
    expect(first.output()).to.match(/e-mail {4}boss@example\.com/);
    const second = runCli(['bootstrap'], { ...environment(), ADMIN_EMAIL: 'other@example.com' });
    expect(await second.ended, second.output()).to.equal(0);
    expect(second.output()).not.to.match(/password/i);
    expect(await people()).to.deep.equal([{ email: 'boss@example.com', status: 'active' }]);
    const service = await startService({
      database,
      env: { ADMIN_EMAIL: 'boss@example.com', ADMIN_PASSWORD: password as string },
    });
    expect(service.admin.token).to.be.a('string');
    await service.stop();
  });

  it('of two processes at the same moment creates one admin', async function () {
    this.timeout(120_000);
    const both: RunningTestService[] = await Promise.all([1, 2].map(() => startService({ database })));
    await Promise.all(both.map((one) => one.stop()));
    expect(await people()).to.have.length(1);
    expect(await database.query('select 1 from platform_roles')).to.have.length(2);
  });
});
