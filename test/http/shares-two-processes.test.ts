import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import type { HttpReply } from '../support/send.ts';
import { createMigratedDatabase, QUICK_HASH_SETTINGS, type SpawnedService, spawnService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { createSharer, createVisitor, prepareShareTables, readAll, signInByShare } from './share-fixture.ts';
import { requestAsAdmin } from './test-users.ts';

describe('shares with two processes on one database', function () {
  this.timeout(180_000);
  let database: FreshDatabase;
  let services: [SpawnedService, SpawnedService];
  let role: string;

  before(async () => {
    database = await createMigratedDatabase('share_processes');
    const env = { ...QUICK_HASH_SETTINGS, LOG_LEVEL: 'warn', LOGIN_STALL_TIME: '50' };
    services = [await spawnService({ database, env }), await spawnService({ database, env })];
    await prepareShareTables(services[0]);
    role = (await createSharer(services[0], readAll('remark'))).role;
  });
  after(async () => {
    await Promise.all((services ?? []).map((one) => one.stop()));
    await database?.drop();
  });

  const createShare = async (more: object): Promise<string> =>
    (await requestAsAdmin(services[0], 'POST', '/shares', { collection: 'article', item: '1', role, ...more })).id;
  /** Sends `count` requests at once, half of them to each process, and counts the statuses. */
  async function tally(count: number, send: (service: SpawnedService) => Promise<HttpReply>) {
    const replies = await Promise.all(
      Array.from({ length: count }, (_, at) => send(services[at % 2] as SpawnedService)),
    );
    const counts: Record<number, number> = {};
    for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  }

  it('of 200 simultaneous uses of a share with max_uses 50 exactly 50 open a session', async () => {
    const share = await createShare({ max_uses: 50 });
    expect(await tally(200, (service) => signInByShare(service, share))).to.deep.equal({ 200: 50, 401: 150 });
    expect(
      await database.query(
        `select times_used, (select count(*)::int from platform_sessions where share = s.id) as sessions
        from platform_shares s where id = $1`,
        [share],
      ),
    ).to.deep.equal([{ times_used: 50, sessions: 50 }]);
  });

  it('60 simultaneous uses with the right password use up no guesses', async () => {
    const share = await createShare({ password: 'right', max_uses: 20 });
    const password = 'right';
    expect(await tally(60, (service) => signInByShare(service, share, { password }))).to.deep.equal({
      200: 20,
      401: 40,
    });
  });

  it('wrong passwords of one network are ten over both processes', async () => {
    const share = await createShare({ password: 'right' });
    const password = 'wrong';
    expect(await tally(40, (service) => signInByShare(service, share, { password }))).to.deep.equal({
      401: 10,
      429: 30,
    });
  });

  it('of 40 simultaneous refreshes of one token one succeeds, and its session is refreshed further', async () => {
    const { refreshToken, share } = await createVisitor(services[0], { role });
    const refresh = (token: string) => (service: SpawnedService) =>
      service.request('POST', '/auth/refresh', { body: { refresh_token: token } });
    const replies: HttpReply[] = [];
    const counts = await tally(40, async (service) => {
      const reply = await refresh(refreshToken)(service);
      replies.push(reply);
      return reply;
    });
    expect(counts).to.deep.equal({ 200: 1, 401: 39 });
    const next = replies.find(({ status }) => status === 200)?.body.data;
    const me = await services[1].request('GET', '/users/me', { token: next.access_token });
    expect(me.body.data.share).to.equal(share);
    const again = await refresh(next.refresh_token)(services[1]);
    expect(again.status).to.equal(200);
    const body = { refresh_token: again.body.data.refresh_token };
    expect((await services[0].request('POST', '/auth/logout', { body })).status).to.equal(204);
    expect((await services[1].request('POST', '/auth/refresh', { body })).status).to.equal(401);
  });

  it('a share that is deleted or changed at one process is refused by the other one', async () => {
    const [one, two] = services;
    const status = async (token: string) => (await two.request('GET', '/items/article/1', { token })).status;
    const first = await createVisitor(one, { role });
    expect(await status(first.token)).to.equal(200);
    await requestAsAdmin(one, 'DELETE', `/shares/${first.share}`);
    expect(await status(first.token)).to.equal(401);

    const second = await createVisitor(one, { role });
    expect(await status(second.token)).to.equal(200);
    const soon = new Date(Date.now() + 2_000).toISOString();
    await requestAsAdmin(one, 'PATCH', `/shares/${second.share}`, { date_end: soon });
    // The date passes without any message between the processes.
    await until(async () => (await status(second.token)) === 401);
    const body = { refresh_token: second.refreshToken };
    const refused = await two.request('POST', '/auth/refresh', { body });
    expect([refused.status, refused.body.errors[0].extensions.code]).to.deep.equal([401, 'INVALID_CREDENTIALS']);
    expect(await database.query('select 1 from platform_sessions where share = $1', [second.share])).to.deep.equal([]);

    const third = await createVisitor(one, { role });
    await requestAsAdmin(one, 'PATCH', `/shares/${third.share}`, { password: 'new' });
    const later = { refresh_token: third.refreshToken };
    expect((await two.request('POST', '/auth/refresh', { body: later })).status).to.equal(401);
  });

  it('a share keeps its 1,000 latest sessions', async () => {
    const { share, refreshToken } = await createVisitor(services[0], { role });
    await database.query(
      `insert into platform_sessions (token, share, expires)
      select md5(g::text), $1, now() + interval '1 day' from generate_series(1, 1200) g`,
      [share],
    );
    await signInByShare(services[1], share);
    const [found] = await database.query('select count(*)::int as n from platform_sessions where share = $1', [share]);
    expect(found).to.deep.equal({ n: 1_000 });
    const body = { refresh_token: refreshToken };
    expect((await services[0].request('POST', '/auth/refresh', { body })).status).to.equal(200);
  });
});
