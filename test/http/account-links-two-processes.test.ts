import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { type MailLinks, startMailLinks, tokenOf } from '../support/mail-links.ts';
import { createMigratedDatabase, type HttpReply, type SpawnedService, spawnService } from '../support/service.ts';
import { until } from '../support/until.ts';

const codeOf = ({ body }: HttpReply): unknown => body?.errors?.[0]?.extensions?.code;

describe('links of accounts with two processes', function () {
  this.timeout(300_000);
  let mails: MailLinks;
  let database: FreshDatabase;
  let processes: readonly SpawnedService[] = [];
  let role: string;
  before(async () => {
    mails = await startMailLinks();
    database = await createMigratedDatabase('links');
    const env = { ...mails.env, PUBLIC_URL: 'https://content.example.com', REGISTER_STALL_TIME: '1' };
    processes = await Promise.all([spawnService({ database, env }), spawnService({ database, env })]);
    role = (await asAdmin('POST', '/roles', { name: 'invited' })).body.data.id;
    await asAdmin('PATCH', '/settings', { public_registration: true });
  });
  after(async () => {
    await Promise.all(processes.map((one) => one.stop()));
    await database?.drop();
    await mails?.server.stop();
  });

  const service = (at: number): SpawnedService => processes[at % processes.length] as SpawnedService;
  const asAdmin = (method: string, path: string, body: unknown) =>
    service(0).request(method, path, { token: service(0).admin.token, body });
  const login = (at: number, email: string, password: string) =>
    service(at).request('POST', '/auth/login', { body: { email, password } });
  /** Sends requests to both processes in turn, all at once. */
  const sendAtOnce = (count: number, path: string, bodyOf: (at: number) => unknown) =>
    Promise.all(Array.from({ length: count }, (_, at) => service(at).request('POST', path, { body: bodyOf(at) })));
  const passwordOf = (at: number) => `password number ${at}`;
  let created = 0;
  async function createUser(): Promise<string> {
    const email = `user${++created}@example.com`;
    await asAdmin('POST', '/users', { email, password: 'the first one', role });
    return email;
  }

  for (const round of [1, 2, 3]) {
    it(`a link for a new password that is used 20 times at once has one winner (round ${round})`, async () => {
      const email = await createUser();
      await service(0).request('POST', '/auth/password/request', { body: { email } });
      const token = tokenOf(await mails.linkFor(email));
      const replies = await sendAtOnce(20, '/auth/password/reset', (at) => ({ token, password: passwordOf(at) }));
      const winners = replies.flatMap(({ status }, at) => (status === 200 ? [at] : []));
      expect(winners).to.have.length(1);
      expect(new Set(replies.filter(({ status }) => status !== 200).map(codeOf))).to.deep.equal(
        new Set(['INVALID_TOKEN']),
      );
      const [winner] = winners as [number];
      expect((await login(0, email, passwordOf(winner))).status).to.equal(200);
      expect((await login(1, email, passwordOf(winner + 1))).status).to.equal(401);
    });

    it(`an invitation that is accepted twice at once makes one user (round ${round})`, async () => {
      const email = `invited${round}@example.com`;
      await asAdmin('POST', '/users/invite', { email, role });
      const token = tokenOf(await mails.linkFor(email));
      const replies = await sendAtOnce(2, '/users/invite/accept', (at) => ({ token, password: passwordOf(at) }));
      expect(replies.map(({ status }) => status).sort()).to.deep.equal([204, 400]);
      expect(replies.map(codeOf).filter(Boolean)).to.deep.equal(['INVALID_PAYLOAD']);
      const winner = replies.findIndex(({ status }) => status === 204);
      expect((await login(1, email, passwordOf(winner))).status).to.equal(200);
      expect((await login(0, email, passwordOf(1 - winner))).status).to.equal(401);
    });
  }

  it('requests for a new password in both processes send one mail', async () => {
    const email = await createUser();
    await sendAtOnce(10, '/auth/password/request', () => ({ email }));
    await mails.linkFor(email);
    const last = await createUser();
    await service(1).request('POST', '/auth/password/request', { body: { email: last } });
    await mails.linkFor(last);
    expect(mails.count(email)).to.equal(1);
  });

  it('invitations of the same addresses at once create each user once', async () => {
    const emails = Array.from({ length: 8 }, (_, at) => `list${at}@example.com`);
    const replies = await Promise.all(
      [emails, emails.toReversed(), emails, emails.toReversed()].map((email, at) =>
        service(at).request('POST', '/users/invite', { token: service(at).admin.token, body: { email, role } }),
      ),
    );
    expect(replies.map(({ status, body }) => [status, body])).to.deep.equal(replies.map(() => [204, undefined]));
    const [row] = await database.query<{ n: number }>(
      `select count(*)::int as n from platform_users where email like 'list%'`,
    );
    expect(row?.n).to.equal(emails.length);
  });

  it('a reset in one process ends the sessions that another process has opened', async () => {
    const email = await createUser();
    const refresh_token = (await login(1, email, 'the first one')).body.data.refresh_token;
    await service(0).request('POST', '/auth/password/request', { body: { email } });
    const token = tokenOf(await mails.linkFor(email));
    expect(
      (await service(0).request('POST', '/auth/password/reset', { body: { token, password: 'new' } })).status,
    ).to.equal(200);
    expect(codeOf(await service(1).request('POST', '/auth/refresh', { body: { refresh_token } }))).to.equal(
      'INVALID_CREDENTIALS',
    );
  });

  it('a process that is killed leaves no user without the job of the mail, and no such job without its user', async () => {
    const emails = Array.from({ length: 40 }, (_, at) => `killed${at}@example.com`);
    const victim = await spawnService({
      database,
      env: { ...mails.env, REGISTER_STALL_TIME: '1', RATE_LIMITER_REGISTRATION_ENABLED: 'false' },
    });
    const answered = new Set<string>();
    const register = async (email: string) => {
      const reply = await victim.request('POST', '/users/register', { body: { email, password: 'a password' } });
      if (reply.status === 204) answered.add(email);
    };
    // Requests that the killed process does not answer fail.
    const sending = Promise.allSettled(emails.map(register));
    await until(() => answered.size >= 3);
    await victim.kill('SIGKILL');
    await sending;
    await victim.stop();
    const list = async (statement: string) =>
      (await database.query<{ email: string }>(statement)).map(({ email }) => email).sort();
    const users = await list(`select email from platform_users where email like 'killed%'`);
    expect(users).to.include.members([...answered]);
    expect(
      await list(`select u.email from platform_users u join platform_registrations r on r."user" = u.id
        where u.email like 'killed%'`),
    ).to.deep.equal(users);
    // A job that was running in the killed process runs again in another one.
    expect(
      await list(`select data->'message'->>'to' as email from platform_queue.job
        where name = 'mail' and data->'message'->>'to' like 'killed%'`),
    ).to.deep.equal(users);
  });
});
