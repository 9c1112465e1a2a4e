import { expect } from 'chai';
import { startMailServer } from '../../support/mail-server.ts';
import { runCommand } from '../../support/run-command.ts';
import {
  createMigratedDatabase,
  FIRST_ADMIN_CREDENTIALS,
  QUICK_HASH_SETTINGS,
  startService,
  TEST_SECRET,
} from '../../support/service.ts';
import { until } from '../../support/until.ts';

const NO_SENDMAIL = { EMAIL_SENDMAIL_PATH: '/nowhere/sendmail' };

describe('mail: the check email:connection', function () {
  this.timeout(120_000);

  async function healthOf(env: Record<string, string>) {
    const service = await startService({ env: { LOG_LEVEL: 'info', ...env } });
    try {
      const { status, body } = await service.request('GET', '/server/health', { token: service.admin.token });
      const anonymous = await service.request('GET', '/server/health');
      const logged = () =>
        service.log
          .filter(({ owner }) => owner === '@tenon/mail')
          .map(({ level, msg }) => [level, String(msg)] as const);
      // The check of EMAIL_VERIFY_SETUP follows the start and is not waited for.
      const isExpected = env.EMAIL_VERIFY_SETUP !== 'false' && env.EMAIL_TRANSPORT !== 'log';
      if (isExpected) await until(() => logged().length > 0);
      return { status, anonymous, check: body.checks['email:connection'], logged: logged() };
    } finally {
      await service.stop();
    }
  }

  it('a service without settings of mail, on a machine without sendmail, is healthy and has no such check', async () => {
    const { status, anonymous, check, logged } = await healthOf({});
    // A machine that has sendmail checks it.
    if (check !== undefined) return expect(check[0]).to.include({ status: 'ok', componentType: 'email' });
    expect([status, anonymous.status, anonymous.body.status]).to.deep.equal([200, 200, 'ok']);
    expect(logged[0]?.[1]).to.include('EMAIL_TRANSPORT is unset');
  });

  it('the transport log is healthy', async () => {
    const { status, check } = await healthOf({ EMAIL_TRANSPORT: 'log' });
    expect(status).to.equal(200);
    expect(check[0]).to.include({ status: 'ok', componentType: 'email', observedUnit: 'ms' });
  });

  it('a sendmail that settings ask for and that is missing is an error of 503, with the path', async () => {
    for (const env of [NO_SENDMAIL, { ...NO_SENDMAIL, EMAIL_TRANSPORT: 'sendmail' }]) {
      const { status, check, logged } = await healthOf(env);
      expect(status).to.equal(503);
      expect(check[0]).to.include({ status: 'error' });
      expect(check[0].output).to.include('/nowhere/sendmail');
      expect(logged[0]?.[1]).to.include('Mail cannot be sent').and.include('/nowhere/sendmail');
    }
  });

  it('an SMTP server is healthy while it answers, and an error of 503 while it does not', async () => {
    const server = await startMailServer();
    const env = {
      EMAIL_TRANSPORT: 'smtp',
      EMAIL_SMTP_HOST: '127.0.0.1',
      EMAIL_SMTP_PORT: String(server.port),
      EMAIL_SMTP_IGNORE_TLS: 'true',
      EMAIL_VERIFY_SETUP: 'false',
    };
    const up = await healthOf(env);
    expect(up.check[0]).to.include({ status: 'ok' });
    await until(() => server.connections().open === 0);
    await server.stop();
    const down = await healthOf({ ...env, EMAIL_VERIFY_SETUP: 'true' });
    expect(down.status).to.equal(503);
    expect(down.anonymous.body).to.deep.equal({ status: 'error' });
    expect(down.logged[0]?.[1]).to.include('Mail cannot be sent (smtp)');
  });
});

describe('mail: the check email:connection of a running service', function () {
  this.timeout(120_000);

  it('sees at once that the server is gone and that it is back, and signs in once a minute', async () => {
    let signIns = 0;
    const options = {
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: (_auth: unknown, _session: unknown, callback: (error: null, reply: { user: string }) => void) => {
        signIns++;
        callback(null, { user: 'shop' });
      },
    };
    let server = await startMailServer(options);
    const { port } = server;
    const service = await startService({
      env: {
        EMAIL_TRANSPORT: 'smtp',
        EMAIL_SMTP_HOST: '127.0.0.1',
        EMAIL_SMTP_PORT: String(port),
        EMAIL_SMTP_IGNORE_TLS: 'true',
        EMAIL_SMTP_USER: 'shop',
        EMAIL_SMTP_PASSWORD: 'secret',
        EMAIL_VERIFY_SETUP: 'false',
      },
    });
    const health = async () => (await service.request('GET', '/server/health')).status;
    try {
      expect([await health(), await health(), await health(), signIns]).to.deep.equal([200, 200, 200, 1]);
      expect(server.connections().total).to.equal(3);
      await server.stop();
      expect([await health(), await health()]).to.deep.equal([503, 503]);
      server = await startMailServer(options, port);
      expect([await health(), await health(), signIns]).to.deep.equal([200, 200, 2]);
    } finally {
      await service.stop();
      await server.stop();
    }
  });
});

describe('the command mail:test', function () {
  this.timeout(180_000);

  it('prints what the server said, or why the message was not sent', async () => {
    const server = await startMailServer();
    const database = await createMigratedDatabase('mail_test');
    const env = {
      ...QUICK_HASH_SETTINGS,
      ADMIN_EMAIL: FIRST_ADMIN_CREDENTIALS.email,
      ADMIN_PASSWORD: FIRST_ADMIN_CREDENTIALS.password,
      SECRET: TEST_SECRET,
      DB_CONNECTION_STRING: database.url,
      CONFIG_PATH: '/dev/null',
      LOG_LEVEL: 'silent',
      EMAIL_TRANSPORT: 'smtp',
      EMAIL_SMTP_HOST: '127.0.0.1',
      EMAIL_SMTP_PORT: String(server.port),
      EMAIL_SMTP_IGNORE_TLS: 'true',
    };
    const run = async (...args: string[]) => {
      const { code, output } = await runCommand(['mail:test', ...args], env);
      return { code, text: output.trim() };
    };
    try {
      expect(await run('ann@example.com')).to.deep.equal({
        code: 0,
        text: 'Accepted (smtp) for ann@example.com: 250 accepted as 1',
      });
      expect(server.received[0]?.source).to.include('Subject: Test message');
      server.recipients.set('bob@example.com', { code: 550, text: 'no such user' });
      expect(await run('bob@example.com')).to.deep.equal({
        code: 1,
        text: 'The server refused bob@example.com: 550 no such user',
      });
      expect((await run('shop')).text).to.include('must be e-mail addresses');
      expect(await run()).to.deep.equal({ code: 2, text: 'Usage: mail:test <address>' });
    } finally {
      await server.stop();
      await database.drop();
    }
  });
});
