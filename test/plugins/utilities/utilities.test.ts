import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import { createTestUserAccount, makeRole, statusAndCodeOf } from '../users/test-users.ts';

describe('utilities', function () {
  this.timeout(120_000);
  let service: InProcessService;

  before(async () => {
    service = await startService();
  });
  after(() => service?.stop());

  const admin = (method: string, path: string, body?: unknown) =>
    service.request(method, path, { token: service.admin.token, ...(body === undefined ? {} : { body }) });

  describe('GET /utils/random/string', () => {
    it('answers anyone as many URL-safe characters as asked for, 32 by default, and others each time', async () => {
      const lengthOf = async (query: string) =>
        (await service.request('GET', `/utils/random/string${query}`)).body.data;
      expect(await lengthOf('')).to.match(/^[\w-]{32}$/);
      expect(await lengthOf('?length=1')).to.match(/^[\w-]{1}$/);
      expect(await lengthOf('?length=500')).to.match(/^[\w-]{500}$/);
      expect(await lengthOf('')).to.not.equal(await lengthOf(''));
    });

    it('is kept by no cache', async () => {
      const { headers } = await service.request('GET', '/utils/random/string');
      expect(headers.get('cache-control')).to.equal('no-store');
    });

    for (const length of ['0', '501', '-1', '1.5', 'ten', '', '1e2', '99999999999999999999'])
      it(`refuses the length "${length}"`, async () => {
        const answer = await service.request('GET', `/utils/random/string?length=${length}`);
        expect(statusAndCodeOf(answer)).to.deep.equal([400, 'INVALID_QUERY']);
      });
  });

  describe('/utils/hash', () => {
    const hash = (body: unknown) => service.request('POST', '/utils/hash/generate', { body });
    const verify = (body: unknown) => service.request('POST', '/utils/hash/verify', { body });

    it('makes hashes that verify recognizes, and no others', async () => {
      const { status, body } = await hash({ string: 'correct horse' });
      expect([status, body.data.startsWith('$argon2id$')]).to.deep.equal([200, true]);
      expect((await verify({ string: 'correct horse', hash: body.data })).body).to.deep.equal({ data: true });
      expect((await verify({ string: 'Correct horse', hash: body.data })).body).to.deep.equal({ data: false });
    });

    it('hashes the empty text', async () => {
      const { data } = (await hash({ string: '' })).body;
      expect((await verify({ string: '', hash: data })).body).to.deep.equal({ data: true });
    });

    for (const body of [
      {},
      { string: 5 },
      { string: null },
      { string: 'a'.repeat(10_001) },
      ['a'],
      { string: 'a', more: 1 },
    ])
      it(`generates nothing for ${JSON.stringify(body).slice(0, 40)}`, async () => {
        expect(statusAndCodeOf(await hash(body))).to.deep.equal([400, 'INVALID_PAYLOAD']);
      });

    const salted = 'c29tZXNhbHRzb21lc2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
    for (const [what, text] of [
      ['a text that is no hash', 'x'],
      ['a hash of bcrypt', '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy'],
      ['a hash that takes four gibibytes', `$argon2id$v=19$m=4194304,t=3,p=4$${salted}`],
      ['a hash of nine thousand passes', `$argon2id$v=19$m=1024,t=9000,p=4$${salted}`],
      ['a hash without its end', '$argon2id$v=19$m=1024,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$'],
    ])
      it(`refuses to verify ${what}`, async () => {
        const answer = await verify({ string: 'a', hash: text });
        expect(statusAndCodeOf(answer)).to.deep.equal([400, 'INVALID_PAYLOAD']);
        expect(answer.body.errors[0].extensions.path).to.deep.equal(['hash']);
      });
  });

  describe('POST /utils/sort/<collection>', () => {
    const collection = 'chapters';
    let positions: (sorts: readonly (number | null)[]) => Promise<void>;
    const order = async () =>
      (await service.database.query<{ id: number }>(`select id from ${collection} order by sort nulls last, id`)).map(
        ({ id }) => id,
      );
    const values = async () =>
      (await service.database.query<{ sort: number }>(`select sort from ${collection} order by id`)).map(
        ({ sort }) => sort,
      );
    const sort = (body: unknown, options: { token?: string | null; collection?: string } = {}) =>
      service.request('POST', `/utils/sort/${options.collection ?? collection}`, {
        token: options.token === undefined ? service.admin.token : options.token,
        body,
      });

    before(async () => {
      for (const [name, meta] of [
        [collection, { sort_field: 'sort' }],
        ['pages', {}],
      ] as const)
        await admin('POST', '/collections', {
          collection: name,
          meta,
          schema: {},
          fields: [
            { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } },
            { field: 'sort', type: 'integer' },
            { field: 'title', type: 'string' },
          ],
        });
      positions = async (sorts) => {
        await service.database.query(`delete from ${collection}`);
        for (const [at, value] of sorts.entries())
          await service.database.query(
            `insert into ${collection} (id, sort, title) values (${at + 1}, ${value}, 'chapter ${at + 1}')`,
          );
      };
    });

    for (const [item, to, expected] of [
      [4, 2, [1, 4, 2, 3, 5]],
      [2, 5, [1, 3, 4, 2, 5]],
      [5, 1, [5, 1, 2, 3, 4]],
      [1, 2, [1, 2, 3, 4, 5]],
      [3, 3, [1, 2, 3, 4, 5]],
      ['4', '2', [1, 4, 2, 3, 5]],
    ] as const)
      it(`moves item ${item} immediately before item ${to}, also by texts of keys`, async () => {
        await positions([1, 2, 3, 4, 5]);
        const answer = await sort({ item, to });
        expect([answer.status, answer.body]).to.deep.equal([200, undefined]);
        expect(await order()).to.deep.equal(expected);
      });

    it('moves only the items between the two, and keeps the positions that there were', async () => {
      await positions([10, 20, 30, 40, 50]);
      await sort({ item: 4, to: 2 });
      expect(await values()).to.deep.equal([10, 30, 40, 20, 50]);
    });

    it('gives positions to items without one, after all others', async () => {
      await positions([3, null, null, 8, null]);
      await sort({ item: 5, to: 3 });
      expect(await order()).to.deep.equal([1, 4, 2, 5, 3]);
      expect(await values()).to.deep.equal([3, 9, 11, 8, 10]);
    });

    it('makes equal positions different', async () => {
      await positions([1, 1, 1, 1]);
      await sort({ item: 4, to: 2 });
      expect(await order()).to.deep.equal([1, 4, 2, 3]);
      expect(new Set(await values()).size).to.equal(4);
    });

    it('records one row of activity, of the moved item', async () => {
      await positions([1, 2, 3]);
      await service.database.query('delete from platform_activity');
      await sort({ item: 3, to: 1 });
      const rows = await service.database.query('select action, collection, item from platform_activity');
      expect(rows).to.deep.equal([{ action: 'update', collection, item: '3' }]);
    });

    it('keeps an order of different positions when twenty moves happen at once', async () => {
      await positions(Array.from({ length: 10 }, (_one, at) => at + 1));
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_one, at) => sort({ item: (at % 10) + 1, to: ((at * 7) % 10) + 1 })),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(20).fill(200));
      expect((await values()).toSorted((a, b) => a - b)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    });

    for (const [what, body] of [
      ['without an item', { to: 1 }],
      ['without a target', { item: 1 }],
      ['with a list', { item: [1], to: 2 }],
      ['with null', { item: null, to: 2 }],
    ] as const)
      it(`refuses a body ${what}`, async () => {
        expect(statusAndCodeOf(await sort(body))).to.deep.equal([400, 'INVALID_PAYLOAD']);
      });

    it('refuses a collection without a sort field, and items that do not exist', async () => {
      expect(statusAndCodeOf(await sort({ item: 1, to: 2 }, { collection: 'pages' }))).to.deep.equal([
        400,
        'INVALID_PAYLOAD',
      ]);
      await positions([1, 2]);
      for (const body of [
        { item: 1, to: 99 },
        { item: 99, to: 1 },
        { item: 'x', to: 1 },
      ])
        expect(statusAndCodeOf(await sort(body))).to.deep.equal([403, 'FORBIDDEN']);
      expect(await values()).to.deep.equal([1, 2]);
    });

    it('needs the permission to update the sort field of both items', async () => {
      await positions([1, 2, 3]);
      expect(statusAndCodeOf(await sort({ item: 3, to: 1 }, { token: null }))).to.deep.equal([403, 'FORBIDDEN']);
      const role = await makeRole(service);
      const { token } = await createTestUserAccount(service, role);
      expect(statusAndCodeOf(await sort({ item: 3, to: 1 }, { token }))).to.deep.equal([403, 'FORBIDDEN']);
      const permission = { role, collection, action: 'update', fields: ['title'], permissions: { id: { _gt: 1 } } };
      const { id } = (await admin('POST', '/permissions', permission)).body.data;
      expect(statusAndCodeOf(await sort({ item: 3, to: 2 }, { token }))).to.deep.equal([403, 'FORBIDDEN']);
      await admin('PATCH', `/permissions/${id}`, { fields: ['sort'] });
      expect(statusAndCodeOf(await sort({ item: 3, to: 1 }, { token }))).to.deep.equal([403, 'FORBIDDEN']);
      expect(await order()).to.deep.equal([1, 2, 3]);
      expect((await sort({ item: 3, to: 2 }, { token })).status).to.equal(200);
      expect(await order()).to.deep.equal([1, 3, 2]);
    });
  });

  describe('POST /utils/revert/<revision>', () => {
    const collection = 'notes';
    let role: string;
    let token: string;
    const revisionsOf = (item: number) =>
      service.database.query<{ id: number; data: { title: string } }>(
        `select id, data from platform_revisions where collection = '${collection}' and item = '${item}' order by id`,
      );
    const revert = (id: number | string, by: string | null = service.admin.token) =>
      service.request('POST', `/utils/revert/${id}`, { token: by });
    const make = async (): Promise<number> => {
      const { id } = (await admin('POST', `/items/${collection}`, { title: 'first', body: 'one' })).body.data;
      await admin('PATCH', `/items/${collection}/${id}`, { title: 'second', body: 'two' });
      return id;
    };

    before(async () => {
      await admin('POST', '/collections', {
        collection,
        schema: {},
        fields: [
          { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } },
          { field: 'title', type: 'string' },
          { field: 'body', type: 'text' },
          { field: 'gone', type: 'string' },
          { field: 'secret', type: 'hash', meta: { special: ['hash', 'conceal'] } },
          { field: 'changed', type: 'timestamp', meta: { special: ['date-updated'] } },
        ],
      });
      role = await makeRole(service);
      ({ token } = await createTestUserAccount(service, role));
    });

    it('gives the item the values of the revision, with a new activity and a new revision', async () => {
      const id = await make();
      const [first] = await revisionsOf(id);
      await service.database.query('delete from platform_activity');
      const answer = await revert(first?.id as number);
      expect([answer.status, answer.body]).to.deep.equal([204, undefined]);
      const { data } = (await admin('GET', `/items/${collection}/${id}`)).body;
      expect([data.title, data.body]).to.deep.equal(['first', 'one']);
      expect((await revisionsOf(id)).at(-1)?.data.title).to.equal('first');
      const rows = await service.database.query('select action, item from platform_activity');
      expect(rows).to.deep.equal([{ action: 'update', item: String(id) }]);
    });

    it('leaves out fields that are gone and secrets', async () => {
      const { id } = (await admin('POST', `/items/${collection}`, { title: 'a', gone: 'x', secret: 'one' })).body.data;
      await admin('PATCH', `/items/${collection}/${id}`, { title: 'b', secret: 'two' });
      const [before] = await service.database.query(`select secret from ${collection} where id = ${id}`);
      await admin('DELETE', `/fields/${collection}/gone`);
      const [first] = await revisionsOf(id);
      expect((await revert(first?.id as number)).status).to.equal(204);
      const [after] = await service.database.query(`select title, secret from ${collection} where id = ${id}`);
      expect(after).to.deep.equal({ title: 'a', ...before });
    });

    it('needs the permissions to read the revision and to update each field that differs', async () => {
      const id = await make();
      const [first] = await revisionsOf(id);
      const by = () => revert(first?.id as number, token);
      expect(statusAndCodeOf(await revert(first?.id as number, null))).to.deep.equal([403, 'FORBIDDEN']);
      expect(statusAndCodeOf(await by())).to.deep.equal([403, 'FORBIDDEN']);
      await admin('POST', '/permissions', { role, collection: 'platform_revisions', action: 'read', fields: ['*'] });
      await admin('POST', '/permissions', { role, collection, action: 'read', fields: ['*'] });
      expect(statusAndCodeOf(await by())).to.deep.equal([403, 'FORBIDDEN']);
      const permission = { role, collection, action: 'update', fields: ['title'] };
      const update = (await admin('POST', '/permissions', permission)).body.data.id;
      expect(statusAndCodeOf(await by())).to.deep.equal([403, 'FORBIDDEN']);
      await admin('PATCH', `/permissions/${update}`, { fields: ['title', 'body'] });
      expect((await by()).status).to.equal(204);
    });

    it('refuses a revision that does not exist, one of a deleted item, and that of a run of a flow', async () => {
      for (const id of ['0', '99999999', 'x', '1.5']) expect((await revert(id)).status, id).to.be.oneOf([400, 403]);
      const id = await make();
      const [first] = await revisionsOf(id);
      await admin('DELETE', `/items/${collection}/${id}`);
      expect(statusAndCodeOf(await revert(first?.id as number))).to.deep.equal([403, 'FORBIDDEN']);
      const flow = { name: 'run', trigger: 'webhook', options: { method: 'GET' } };
      const { id: flowId } = (await admin('POST', '/flows', flow)).body.data;
      await admin('GET', `/flows/trigger/${flowId}`);
      const [run] = await service.database.query<{ id: number }>(
        "select r.id from platform_revisions r join platform_activity a on a.id = r.activity where a.action = 'run'",
      );
      expect(statusAndCodeOf(await revert(run?.id as number))).to.deep.equal([400, 'INVALID_PAYLOAD']);
    });
  });
});
