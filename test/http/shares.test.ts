import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { PUBLIC_ROLE_ID } from '../../plugins/access/contract.ts';
import { recordStatementsDuring } from '../support/capture-sql-statements.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { createSharer, createVisitor, prepareShareTables, readAll, signInByShare } from './share-fixture.ts';
import { requestAsAdmin, type TestUserWithToken } from './test-users.ts';

const MASK = '**********';
const past = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();
const future = (seconds: number) => past(-seconds);

describe('/shares', () => {
  let service: InProcessService;
  let sharer: TestUserWithToken;

  before(async function () {
    this.timeout(120_000);
    service = await startService({ env: { LOG_LEVEL: 'trace' } });
    await prepareShareTables(service);
    sharer = await createSharer(service, readAll('author'));
  });
  after(() => service?.stop());

  const asSharer = (method: string, path: string, body?: unknown) =>
    service.request(method, path, { token: sharer.token, body });
  const create = (more: object = {}) =>
    asSharer('POST', '/shares', { collection: 'article', item: '1', role: sharer.role, ...more });
  const shareAsAdmin = async (more: object = {}): Promise<string> =>
    (await requestAsAdmin(service, 'POST', '/shares', { collection: 'article', item: 1, role: sharer.role, ...more }))
      .id;
  const codeOf = ({ status, body }: Awaited<ReturnType<typeof create>>) => [
    status,
    body?.errors?.[0]?.extensions?.code,
  ];

  describe('POST /shares', () => {
    it('creates a share with the values of the platform, whatever the client sends for them', async () => {
      const { status, body } = await create({
        name: 'For Eve',
        password: 'a secret',
        max_uses: 3,
        times_used: 2,
        user_created: randomUUID(),
        date_created: past(1_000_000),
      });
      expect(status).to.equal(200);
      expect(body.data).to.include({
        name: 'For Eve',
        collection: 'article',
        item: '1',
        role: sharer.role,
        password: MASK,
        user_created: sharer.id,
        times_used: 0,
        max_uses: 3,
        date_start: null,
        date_end: null,
      });
      expect(Date.parse(body.data.date_created)).to.be.greaterThan(Date.now() - 60_000);
      const [row] = await service.database.query('select password from platform_shares where id = $1', [body.data.id]);
      expect(row?.password).to.match(/^\$argon2id\$/);
    });

    it('stores the key of a composite item as the item has it', async () => {
      const share = await shareAsAdmin({ collection: 'price', item: '1,at' });
      const [row] = await service.database.query('select item from platform_shares where id = $1', [share]);
      expect(row?.item).to.equal('1,at');
    });

    for (const [what, more, expected] of [
      ['no role', { role: undefined }, [400, 'INVALID_PAYLOAD']],
      ['the role null', { role: null }, [400, 'INVALID_PAYLOAD']],
      ['a new role in place of a key', { role: { name: 'new' } }, [400, 'INVALID_PAYLOAD']],
      ['another role', { role: PUBLIC_ROLE_ID }, [403, 'FORBIDDEN']],
      ['no collection', { collection: undefined }, [400, 'INVALID_PAYLOAD']],
      ['no item', { item: undefined }, [400, 'INVALID_PAYLOAD']],
      ['an item that does not exist', { item: '99' }, [403, 'FORBIDDEN']],
      ['an item that is no key', { item: 'x' }, [403, 'FORBIDDEN']],
      ['a collection that does not exist', { collection: 'nothing' }, [403, 'FORBIDDEN']],
      ['an item without share permission', { collection: 'author' }, [403, 'FORBIDDEN']],
      ['max_uses 0', { max_uses: 0 }, [400, 'INVALID_PAYLOAD']],
      ['max_uses 1.5', { max_uses: 1.5 }, [400, 'INVALID_PAYLOAD']],
      ['max_uses over the limit of the column', { max_uses: 2 ** 31 }, [400, 'INVALID_PAYLOAD']],
      ['an empty password', { password: '' }, [400, 'INVALID_PAYLOAD']],
      ['a password that is no text', { password: 5 }, [400, 'INVALID_PAYLOAD']],
      ['a date that is none', { date_end: 'soon' }, [400, 'INVALID_PAYLOAD']],
      ['an end before the beginning', { date_start: future(20), date_end: future(10) }, [400, 'INVALID_PAYLOAD']],
    ] as const) {
      it(`a sharer with ${what} gets ${expected.join(' ')}`, async () => {
        expect(codeOf(await create(more))).to.deep.equal(expected);
      });
    }

    it('the row rule of the action share applies to the item', async () => {
      const limited = await createSharer(service);
      await service.database.query(
        `update platform_permissions set permissions = '{"id":{"_eq":2}}' where role = $1 and action = 'share'`,
        [limited.role],
      );
      await requestAsAdmin(service, 'POST', '/utils/cache/clear').catch(() => undefined);
      const share = (item: string) =>
        service.request('POST', '/shares', {
          token: limited.token,
          body: { collection: 'article', item, role: limited.role },
        });
      expect([(await share('1')).status, (await share('2')).status]).to.deep.equal([403, 200]);
    });

    it('a user without create permission on shares gets 403, whatever the payload', async () => {
      const { token, role } = await createSharer(service);
      await service.database.query(
        `delete from platform_permissions where role = $1 and collection = 'platform_shares' and action = 'create'`,
        [role],
      );
      for (const body of [{ collection: 'article', item: '1', role }, {}])
        expect(codeOf(await service.request('POST', '/shares', { token, body }))).to.deep.equal([403, 'FORBIDDEN']);
    });

    it('GraphQL creates and reads shares by the same rules', async () => {
      const send = (query: string) =>
        service.request('POST', '/graphql/system', { token: sharer.token, body: { query } });
      const created = await send(
        `mutation { create_shares_item(data: { collection: "article", item: "1", role: "${sharer.role}", password: "x" }) { id password times_used } }`,
      );
      expect(created.body.data.create_shares_item).to.include({ password: MASK, times_used: 0 });
      const { id } = created.body.data.create_shares_item;
      const read = await send(`{ shares_by_id(id: "${id}") { collection item } shares { id } }`);
      expect(read.body.data.shares_by_id).to.deep.equal({ collection: 'article', item: '1' });
      const other = await send(
        `mutation { create_shares_item(data: { collection: "article", item: "1", role: "${PUBLIC_ROLE_ID}" }) { id } }`,
      );
      expect(other.body.errors[0].extensions.code).to.equal('FORBIDDEN');
    });
  });

  describe('PATCH and DELETE /shares', () => {
    for (const [what, change, expected] of [
      ['collection', { collection: 'author' }, [400, 'INVALID_PAYLOAD']],
      ['item', { item: '2' }, [400, 'INVALID_PAYLOAD']],
      ['user_created', { user_created: null }, [400, 'INVALID_PAYLOAD']],
      ['role to that of others', { role: PUBLIC_ROLE_ID }, [403, 'FORBIDDEN']],
      ['role to null', { role: null }, [400, 'INVALID_PAYLOAD']],
      ['name', { name: 'new' }, [200, undefined]],
    ] as const) {
      it(`a change of ${what} is answered ${expected[0]}`, async () => {
        const { body } = await create();
        expect(codeOf(await asSharer('PATCH', `/shares/${body.data.id}`, change))).to.deep.equal(expected);
      });
    }

    it('times_used cannot be set, and the end is compared with the stored beginning', async () => {
      const { body } = await create({ date_start: future(100) });
      const path = `/shares/${body.data.id}`;
      expect((await asSharer('PATCH', path, { times_used: 5, name: 'x' })).body.data.times_used).to.equal(0);
      expect(codeOf(await asSharer('PATCH', path, { date_end: future(50) }))).to.deep.equal([400, 'INVALID_PAYLOAD']);
      expect((await asSharer('PATCH', path, { date_end: future(200) })).status).to.equal(200);
    });

    it('a deleted share ends its sessions and access tokens', async () => {
      const { share, token, refreshToken } = await createVisitor(service, { role: sharer.role });
      expect((await service.request('GET', '/items/article', { token })).status).to.equal(200);
      expect((await asSharer('DELETE', `/shares/${share}`)).status).to.equal(204);
      expect(codeOf(await service.request('GET', '/items/article', { token }))).to.deep.equal([
        401,
        'INVALID_CREDENTIALS',
      ]);
      const body = { refresh_token: refreshToken };
      expect(codeOf(await service.request('POST', '/auth/refresh', { body }))).to.deep.equal([
        401,
        'INVALID_CREDENTIALS',
      ]);
    });

    it('shares are deleted with their role and with their collection, and their sessions with them', async () => {
      const { role } = await createSharer(service);
      await service.database.query('create table passing (id serial primary key)');
      await service.database.query('insert into passing default values');
      const ofRole = await createVisitor(service, { role });
      const ofCollection = await createVisitor(service, { role: sharer.role, collection: 'passing' });
      await requestAsAdmin(service, 'DELETE', `/roles/${role}`);
      await requestAsAdmin(service, 'DELETE', '/collections/passing');
      const shares = [ofRole.share, ofCollection.share];
      for (const [table, column] of [
        ['platform_shares', 'id'],
        ['platform_sessions', 'share'],
      ])
        expect(
          await service.database.query(`select 1 from ${table} where ${column} = any($1)`, [shares]),
        ).to.deep.equal([]);
    });
  });

  describe('GET /shares/info/:id', () => {
    it('answers everybody what the holder of the link may know', async () => {
      const share = await shareAsAdmin({ password: 'x', max_uses: 4, date_end: future(1000), name: 'not shown' });
      const { status, body } = await service.request('GET', `/shares/info/${share}`);
      expect(status).to.equal(200);
      const { date_end, ...rest } = body.data;
      expect(Date.parse(date_end)).to.be.greaterThan(Date.now());
      expect(rest).to.deep.equal({
        ...{ id: share, collection: 'article', item: '1', password: MASK },
        ...{ max_uses: 4, times_used: 0, date_start: null },
      });
      const open = await shareAsAdmin();
      expect((await service.request('GET', `/shares/info/${open}`)).body.data.password).to.equal(null);
    });

    it('answers 403 outside of the dates, and for a share that does not exist', async () => {
      const ids = [
        await shareAsAdmin({ date_start: future(1000) }),
        await shareAsAdmin({ date_end: past(10) }),
        randomUUID(),
        'x',
      ];
      for (const id of ids)
        expect(codeOf(await service.request('GET', `/shares/info/${id}`))).to.deep.equal([403, 'FORBIDDEN']);
    });
  });

  it('a visitor reads rows and related rows by one statement', async () => {
    const { role } = await createSharer(service, readAll('author', 'remark', 'tag', 'article_tag'));
    const { token } = await createVisitor(service, { role });
    const path = '/items/article/1?fields=*,author.name,tags.tag.label&deep[remarks][_limit]=3';
    await service.request('GET', path, { token });
    // The use that the sign-in counted is announced, and the share is looked up once more when that arrives.
    for (const more of ['', '&fields=title'])
      await until(
        async () => (await recordStatementsDuring(() => service.request('GET', path + more, { token }))).length === 1,
      );
  });

  it('neither logs nor history show a password, a hash or a token', async () => {
    const password = `secret-${randomUUID()}`;
    const { body } = await create({ password, name: 'x' });
    await asSharer('PATCH', `/shares/${body.data.id}`, { password: `${password}2` });
    const signedIn = await signInByShare(service, body.data.id, { password: `${password}2` });
    expect(signedIn.status).to.equal(200);
    const history = await service.database.query(
      `select data::text || coalesce(delta::text, '') as text from platform_revisions where collection = 'platform_shares' and item = $1`,
      [body.data.id],
    );
    expect(history).to.have.length.greaterThan(1);
    const text = JSON.stringify(service.log) + JSON.stringify(history);
    for (const secret of [password, 'argon2', signedIn.body.data.refresh_token, signedIn.body.data.access_token])
      expect(text.includes(secret), secret.slice(0, 8)).to.equal(false);
  });
});
