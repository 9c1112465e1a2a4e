import { expect } from 'chai';
import { type InProcessService, type ServiceOptions, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { createTestUserAccount, makeRole, statusAndCodeOf, type TestUserAccount } from '../users/test-users.ts';

const WRONG = [401, 'INVALID_CREDENTIALS'];

interface ReuseFixture {
  readonly service: InProcessService;
  /** A second process of the service on the same database. */
  readonly other: InProcessService;
  readonly person: TestUserAccount;
  login(): Promise<string>;
  refresh(token: string, at?: InProcessService): ReturnType<InProcessService['request']>;
  /** Refreshes and answers the new refresh token. */
  next(token: string): Promise<string>;
  notices(): Promise<readonly { readonly recipient: string; readonly subject: string; readonly message: string }[]>;
  spent(): Promise<number>;
  stop(): Promise<void>;
}

async function startReuseFixture(env: ServiceOptions['env'] = {}): Promise<ReuseFixture> {
  const service = await startService({ env: { LOG_LEVEL: 'warn', ...env } });
  const other = await startService({ database: service.database, env });
  const person = await createTestUserAccount(service, await makeRole(service));
  const refresh: ReuseFixture['refresh'] = (token, at = service) =>
    at.request('POST', '/auth/refresh', { body: { refresh_token: token } });
  return {
    service,
    other,
    person,
    refresh,
    async login() {
      const body = { email: person.email, password: person.password };
      return (await service.request('POST', '/auth/login', { body })).body.data.refresh_token;
    },
    next: async (token) => (await refresh(token)).body.data.refresh_token,
    notices: () => service.database.query('select recipient, subject, message from platform_notifications order by id'),
    spent: async () => (await service.database.query('select 1 from platform_spent_tokens')).length,
    async stop() {
      await other.stop();
      await service.stop();
    },
  };
}

describe('REFRESH_TOKEN_REUSE', function () {
  this.timeout(120_000);
  let fixture: ReuseFixture;

  describe('reject, the default', () => {
    before(async () => {
      fixture = await startReuseFixture();
    });
    after(() => fixture?.stop());

    it('refuses a spent refresh token, keeps its session, and stores no spent token', async () => {
      const first = await fixture.login();
      const second = await fixture.next(first);
      expect(statusAndCodeOf(await fixture.refresh(first))).to.deep.equal(WRONG);
      expect((await fixture.refresh(second)).status).to.equal(200);
      expect([await fixture.spent(), await fixture.notices()]).to.deep.equal([0, []]);
    });
  });

  describe('revoke', () => {
    beforeEach(async () => {
      fixture = await startReuseFixture({ REFRESH_TOKEN_REUSE: 'revoke' });
    });
    afterEach(() => fixture?.stop());

    it('ends the session of a spent token in every process, and no other session of the user', async () => {
      const unrelated = await fixture.login();
      const first = await fixture.login();
      const second = await fixture.next(first);
      const third = await fixture.next(second);
      expect(statusAndCodeOf(await fixture.refresh(first, fixture.other))).to.deep.equal(WRONG);
      expect(statusAndCodeOf(await fixture.refresh(third))).to.deep.equal(WRONG);
      expect((await fixture.refresh(unrelated)).status).to.equal(200);
    });

    it('notifies the user once, and writes one line of log without the token', async () => {
      const first = await fixture.login();
      await fixture.next(first);
      for (let time = 0; time < 3; time++) expect(statusAndCodeOf(await fixture.refresh(first))).to.deep.equal(WRONG);
      await until(async () => (await fixture.notices()).length > 0);
      const notices = await fixture.notices();
      expect(notices.map(({ recipient, subject }) => [recipient, subject])).to.deep.equal([
        [fixture.person.id, 'One of your sessions was ended'],
      ]);
      const lines = fixture.service.log.filter(({ msg }) => String(msg).includes('spent refresh token'));
      expect(lines.map(({ user }) => user)).to.deep.equal([fixture.person.id]);
      expect(JSON.stringify([fixture.service.log, notices])).not.to.include(first);
    });

    it('ends the session also where many use one token at the same time over two processes', async () => {
      for (let round = 0; round < 5; round++) {
        const token = await fixture.login();
        const replies = await Promise.all(
          Array.from({ length: 10 }, (_, at) => fixture.refresh(token, at % 2 ? fixture.service : fixture.other)),
        );
        const winners = replies.filter(({ status }) => status === 200);
        expect(winners).to.have.length(1);
        expect(statusAndCodeOf(await fixture.refresh(winners[0]?.body.data.refresh_token))).to.deep.equal(WRONG);
      }
      await until(async () => (await fixture.notices()).length === 5);
    });

    it('ends the session while it is refreshed', async () => {
      for (let round = 0; round < 8; round++) {
        const first = await fixture.login();
        const second = await fixture.next(first);
        const [renewed, reused] = await Promise.all([fixture.refresh(second), fixture.refresh(first, fixture.other)]);
        expect(statusAndCodeOf(reused)).to.deep.equal(WRONG);
        if (renewed.status === 200)
          expect(statusAndCodeOf(await fixture.refresh(renewed.body.data.refresh_token))).to.deep.equal(WRONG);
      }
    });

    it('does nothing for a spent token whose session has ended, and for unknown tokens', async () => {
      const first = await fixture.login();
      const second = await fixture.next(first);
      await fixture.service.request('POST', '/auth/logout', { body: { refresh_token: second } });
      const unrelated = await fixture.login();
      for (const token of [first, 'unknown'])
        expect(statusAndCodeOf(await fixture.refresh(token))).to.deep.equal(WRONG);
      expect((await fixture.refresh(unrelated)).status).to.equal(200);
      expect(await fixture.notices()).to.deep.equal([]);
    });

    it('stores a hash of a spent token until its session could have expired, at most a thousand of a session', async () => {
      const { database } = fixture.service;
      let token = await fixture.login();
      const first = token;
      token = await fixture.next(token);
      expect(await database.query('select 1 from platform_spent_tokens where token = $1', [first])).to.deep.equal([]);
      await database.query(`insert into platform_spent_tokens (token, session, "user", expires)
        select md5(n::text), session, "user", now() + n * interval '1 second'
        from platform_spent_tokens, generate_series(1, 1500) n`);
      token = await fixture.next(token);
      token = await fixture.next(token);
      expect(await fixture.spent()).to.equal(1000);
      await database.query(`update platform_spent_tokens set expires = now() - interval '1 s'`);
      expect(statusAndCodeOf(await fixture.refresh(first))).to.deep.equal(WRONG);
      expect((await fixture.refresh(token)).status).to.equal(200);
      await fixture.login();
      expect(await fixture.spent()).to.equal(1);
    });
  });
});
