import { expect } from 'chai';
import { type SpawnedService, spawnService, startService } from '../../support/service.ts';
import {
  CORP_TOKEN,
  createRoles,
  GROUP,
  PATCH,
  ROLES,
  type ScimSend,
  scimSettings,
  sendTo,
  USER,
} from './scim-fixture.ts';

describe('SCIM at two processes on one database', function () {
  this.timeout(300_000);
  let first: SpawnedService;
  let second: SpawnedService;
  let sends: readonly [ScimSend, ScimSend];
  before(async () => {
    first = await spawnService({ env: scimSettings() });
    second = await spawnService({ env: scimSettings(), database: first.database });
    await createRoles(first.database);
    sends = [sendTo(first.url), sendTo(second.url)];
  });
  after(async () => {
    await second?.stop();
    await first?.stop();
  });

  it('makes one user of simultaneous creations with one userName: the others are 409', async () => {
    for (const userName of ['twin@example.com', 'twin-without-address']) {
      const replies = await Promise.all(
        Array.from({ length: 10 }, (_none, at) =>
          (sends[at % 2] as ScimSend)('POST', '/Users', { schemas: [USER], userName }),
        ),
      );
      expect(replies.map(({ status }) => status).sort(), userName).to.deep.equal([201, ...Array(9).fill(409)]);
      expect(
        replies.filter(({ status }) => status === 409).every(({ body }) => body.scimType === 'uniqueness'),
      ).to.equal(true);
    }
  });

  it('makes one group of simultaneous creations with one displayName', async () => {
    const replies = await Promise.all(
      sends.flatMap((send) => [1, 2, 3].map(() => send('POST', '/Groups', { schemas: [GROUP], displayName: 'Twins' }))),
    );
    expect(replies.map(({ status }) => status).sort()).to.deep.equal([201, 409, 409, 409, 409, 409]);
  });

  it('makes one of simultaneous changes of one version, and 412 of the others', async () => {
    const { body, headers } = await sends[0]('POST', '/Users', { schemas: [USER], userName: 'raced@example.com' });
    const change = (send: ScimSend, value: string) =>
      send(
        'PATCH',
        `/Users/${body.id}`,
        { schemas: [PATCH], Operations: [{ op: 'replace', path: 'title', value }] },
        { headers: { 'if-match': headers.get('etag') as string } },
      );
    const replies = await Promise.all(
      ['a', 'b', 'c', 'd'].map((value, at) => change(sends[at % 2] as ScimSend, value)),
    );
    expect(replies.map(({ status }) => status).sort()).to.deep.equal([200, 412, 412, 412]);
  });

  it('refuses at one process the token of a user whom the other one has made inactive, once that is answered', async () => {
    const { body } = await sends[0]('POST', '/Users', { schemas: [USER], userName: 'holder@example.com' });
    const token = 'static-token-of-a-holder';
    await first.request('PATCH', `/users/${body.id}`, { token: first.admin.token, body: { token } });
    const me = async () => (await second.request('GET', '/users/me', { token })).status;
    for (let round = 0; round < 5; round++) {
      for (const [active, status] of [
        [true, 200],
        [false, 401],
      ] as const) {
        await sends[0]('PATCH', `/Users/${body.id}`, {
          schemas: [PATCH],
          Operations: [{ op: 'replace', path: 'active', value: active }],
        });
        expect(await me(), `${round}: ${active}`).to.equal(status);
      }
    }
  });

  it('lists 10,000 users page by page, each once', async () => {
    await first.database.query(
      `insert into platform_users (id, email, provider, role) select gen_random_uuid(), 'page-' || lpad(n::text, 5, '0') || '@example.com', 'corp', $1
       from generate_series(1, 10000) n`,
      [ROLES.member],
    );
    const filter = encodeURIComponent('userName sw "page-"');
    const seen = new Set<string>();
    for (let start = 1; ; start += 200) {
      const { body } = await (sends[start % 2] as ScimSend)(
        'GET',
        `/Users?filter=${filter}&startIndex=${start}&count=200&attributes=userName`,
      );
      expect(body.totalResults).to.equal(10_000);
      if (body.itemsPerPage === 0) break;
      for (const { userName } of body.Resources) seen.add(userName);
    }
    expect(seen.size).to.equal(10_000);
  });

  it('keeps what it has answered when a process is killed', async () => {
    const { body } = await sends[1]('POST', '/Users', { schemas: [USER], userName: 'kept@example.com' });
    await second.kill('SIGKILL');
    expect((await sends[0]('GET', `/Users/${body.id}`)).status).to.equal(200);
  });
});

describe('a provider that is taken out of the settings', function () {
  this.timeout(120_000);

  it('leaves its users as they are, and its token opens nothing; put back, it finds them again', async () => {
    const before = await startService({ env: scimSettings() });
    try {
      await createRoles(before.database);
      const { body } = await sendTo(before.url)('POST', '/Users', { schemas: [USER], userName: 'left@example.com' });
      const { database } = before;
      const settings = Object.entries(scimSettings()).filter(([name]) => !name.startsWith('AUTH_CORP_'));
      const without = await startService({ env: Object.fromEntries(settings), database });
      expect((await sendTo(without.url)('GET', '/Users', undefined, { token: CORP_TOKEN })).status).to.equal(401);
      await without.stop();
      const [row] = await database.query('select status, provider from platform_users where id = $1', [body.id]);
      expect(row).to.deep.equal({ status: 'active', provider: 'corp' });
      expect((await sendTo(before.url)('GET', `/Users/${body.id}`)).status).to.equal(200);
    } finally {
      await before.stop();
    }
  });
});
