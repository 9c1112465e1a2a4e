import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runCommand } from '../../support/run-command.ts';
import {
  FIRST_ADMIN_CREDENTIALS,
  type InProcessService,
  QUICK_HASH_SETTINGS,
  runCli,
  startService,
  TEST_SECRET,
} from '../../support/service.ts';
import { createUserSender, type SendAsUser, statusAndCodeOf } from '../users/test-users.ts';

const PASSWORD = 'a good password';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('commands for accounts', function () {
  this.timeout(240_000);
  /** The service runs while the commands work on its database. */
  let service: InProcessService;
  let admin: SendAsUser;
  let folder: string;
  before(async () => {
    service = await startService();
    admin = createUserSender(service, service.admin.token);
    folder = await mkdtemp(join(tmpdir(), 'tenon-commands-'));
  });
  after(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const environment = (more: Readonly<Record<string, string>> = {}) => ({
    ...QUICK_HASH_SETTINGS,
    ADMIN_EMAIL: FIRST_ADMIN_CREDENTIALS.email,
    ADMIN_PASSWORD: FIRST_ADMIN_CREDENTIALS.password,
    SECRET: TEST_SECRET,
    DATA_PATH: folder,
    EXTENSIONS_PATH: join(folder, 'extensions'),
    DB_CONNECTION_STRING: service.database.url,
    CONFIG_PATH: '/dev/null',
    LOG_LEVEL: 'silent',
    ...more,
  });
  const run = async (args: readonly string[], input?: string) => {
    const { code, output } = await runCommand(args, environment(), input);
    return { code, text: output.trim() };
  };
  const login = (email: string, password = PASSWORD) =>
    service.request('POST', '/auth/login', { body: { email, password } });
  const emails = async () =>
    (await admin('GET', '/users?fields=email&sort=email&limit=-1')).body.data.map(
      ({ email }: { email: string }) => email,
    );

  it('roles:create and users:create make accounts that can sign in at the running service', async () => {
    const role = await run(['roles:create', '--name', 'Editors', '--key', 'editors', '--no-app', '--json']);
    expect(role.code, role.text).to.equal(0);
    const { id: roleId, ...rest } = JSON.parse(role.text);
    expect(rest).to.deep.equal({ name: 'Editors', admin_access: false, app_access: false });

    const created = await run(
      ['users:create', '--email', 'Ann@example.com', '--role', 'editors', '--first-name', 'Ann'],
      `${PASSWORD}\n`,
    );
    expect(created.code, created.text).to.equal(0);
    expect(created.text).to.match(UUID);
    const { data } = (await admin('GET', `/users/${created.text}?fields=first_name,role,status,language`)).body;
    expect(data).to.deep.equal({ first_name: 'Ann', role: roleId, status: 'active', language: 'en-US' });
    expect((await login('ann@example.com')).status).to.equal(200);

    const rows = (await admin('GET', `/activity?filter[item]=${created.text}&filter[action]=create`)).body.data;
    expect(rows.map(({ user, collection }: Record<string, unknown>) => [user, collection])).to.deep.equal([
      [null, 'platform_users'],
    ]);
    const [revision] = (await admin('GET', `/revisions?filter[item]=${created.text}&fields=data`)).body.data;
    expect(JSON.stringify(revision)).not.to.include(PASSWORD).and.not.to.include('$argon2');
  });

  it('roles:create --admin makes a role of admins', async () => {
    const role = await run(['roles:create', '--name', 'Owners', '--admin']);
    expect(role.code, role.text).to.equal(0);
    const file = join(folder, 'password');
    await writeFile(file, `${PASSWORD}\r\n`, { mode: 0o600 });
    const args = ['--email', 'owner@example.com', '--role', role.text, '--password-file', file, '--json'];
    const created = await run(['users:create', ...args]);
    expect(JSON.parse(created.text)).to.include({ email: 'owner@example.com', role: role.text });
    const token = (await login('owner@example.com')).body.data.access_token;
    expect((await service.request('GET', '/roles?fields=id', { token })).status).to.equal(200);
  });

  it('a space in place of the colon of a command means the same', async () => {
    const listed = await run(['users', 'list', '--json']);
    expect(listed).to.deep.equal(await run(['users:list', '--json']));
  });

  it('users:create obeys the rules of users and creates none where one is broken', async () => {
    const before = await emails();
    await admin('PATCH', '/settings', { auth_password_policy: '^.{12,}$' });
    try {
      const of = (email: string, ...more: string[]) => ['users:create', '--email', email, ...more];
      for (const [args, input, code, text] of [
        [of('new@example.com'), 'short', 1, 'FAILED_VALIDATION'],
        [of('ADMIN@example.com'), PASSWORD, 1, 'RECORD_NOT_UNIQUE'],
        [of('not an address'), PASSWORD, 1, 'FAILED_VALIDATION'],
        [of('new@example.com', '--status', 'asleep'), PASSWORD, 1, 'INVALID_PAYLOAD'],
        [of('new@example.com', '--role', 'missing'), PASSWORD, 1, 'No role has'],
        [of('new@example.com', '--role', 'public'), PASSWORD, 1, 'INVALID_PAYLOAD'],
        [of('new@example.com', '--password-file', join(folder, 'missing')), '', 1, 'cannot be read'],
        [of('new@example.com'), '', 2, 'no password'],
        [of('new@example.com', '--password', PASSWORD), PASSWORD, 2, 'Usage: users:create'],
        [['users:create'], PASSWORD, 2, '--email is missing'],
      ] as const) {
        const result = await run(args, input);
        expect([result.code, result.text.includes(text)], result.text).to.deep.equal([code, true]);
        expect(result.text, 'no stack and no password').not.to.match(/\n\s+at |a good password(?!-file)/);
      }
    } finally {
      await admin('PATCH', '/settings', { auth_password_policy: null });
    }
    expect(await emails()).to.deep.equal(before);
  });

  it('users:create --no-password makes a user who cannot sign in by password', async () => {
    const created = await run(['users:create', '--email', 'program@example.com', '--no-password']);
    expect(created.code, created.text).to.equal(0);
    expect(statusAndCodeOf(await login('program@example.com', ''))).to.deep.equal([401, 'INVALID_CREDENTIALS']);
    expect((await admin('GET', `/users/${created.text}?fields=password`)).body.data).to.deep.equal({ password: null });
  });

  it('users:passwd sets a password, ends the sessions, and activates a suspended user with --activate', async () => {
    const email = 'late@example.com';
    const { id } = (await admin('POST', '/users', { email, password: 'the old password' })).body.data;
    const { refresh_token } = (await login(email, 'the old password')).body.data;
    await admin('PATCH', `/users/${id}`, { status: 'suspended' });
    const set = await run(['users:passwd', '--email', 'LATE@example.com', '--activate'], PASSWORD);
    expect(set).to.deep.equal({ code: 0, text: id });
    expect((await login(email)).status).to.equal(200);
    expect((await service.request('POST', '/auth/refresh', { body: { refresh_token } })).status).to.equal(401);
    const unknown = await run(['users:passwd', '--email', 'unknown@example.com'], PASSWORD);
    expect(unknown).to.deep.equal({ code: 1, text: 'No user has the e-mail address unknown@example.com.' });
  });

  it('users:list prints CSV or JSON, and the rows of a role or a status alone', async () => {
    await admin('POST', '/users', { email: 'draft@example.com', status: 'draft', first_name: 'Dee, "D"' });
    const csv = (await run(['users:list', '--status', 'draft'])).text.split('\n');
    expect(csv[0]).to.equal(
      '"id","email","first_name","last_name","status","role.id","role.name","provider","last_access"',
    );
    expect(csv[1]).to.include('draft@example.com').and.to.include('"Dee, ""D"""');
    const json = JSON.parse((await run(['users:list', '--json'])).text);
    expect(json.map(({ email }: { email: string }) => email)).to.deep.equal(await emails());
    expect(Object.keys(json[0])).not.to.include.members(['password', 'token']);
    const admins = JSON.parse((await run(['users:list', '--role', 'Administrator', '--json'])).text);
    expect(admins.map(({ email }: { email: string }) => email)).to.deep.equal(['admin@example.com']);
  });

  it('write the result alone to standard output, and the log to standard error', async () => {
    for (const style of ['raw', 'pretty']) {
      const { ended, standardOutput, output } = runCli(
        ['users:list', '--json'],
        environment({ LOG_LEVEL: 'info', LOG_STYLE: style }),
      );
      expect(await ended).to.equal(0);
      expect(JSON.parse(standardOutput())).to.be.an('array');
      expect(output()).to.include('connected to the database');
    }
  });

  it('sessions:end ends one session or all sessions of a user', async () => {
    const email = 'guest@example.com';
    await admin('POST', '/users', { email, password: PASSWORD });
    const tokens = [];
    for (let at = 0; at < 3; at++) tokens.push((await login(email)).body.data);
    const own = createUserSender(service, tokens[0].access_token);
    const [newest] = (await own('GET', '/users/me/sessions')).body.data;
    const end = (...args: string[]) => run(['sessions:end', '--email', email, ...args]);
    expect(await end('--session', newest.id)).to.deep.equal({ code: 0, text: '1' });
    expect(await end('--session', newest.id)).to.deep.equal({ code: 1, text: 'The user has no such session.' });
    expect(JSON.parse((await end('--json')).text)).to.include({ ended: 2 });
    for (const { refresh_token } of tokens)
      expect((await service.request('POST', '/auth/refresh', { body: { refresh_token } })).status).to.equal(401);
    expect(await end()).to.deep.equal({ code: 0, text: '0' });
  });
});
