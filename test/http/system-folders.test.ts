import { expect } from 'chai';
import {
  createTestUserAccount,
  createUserSender,
  errorCodeOf,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
} from '../plugins/users/test-users.ts';
import { type InProcessService, startService } from '../support/service.ts';

const FULL = ['create', 'read', 'update', 'delete'].map((action) => ({ collection: 'platform_folders', action }));

describe('/folders', () => {
  let service: InProcessService;
  let admin: SendAsUser;
  before(async () => {
    service = await startService();
    admin = createUserSender(service, service.admin.token);
  });
  after(() => service?.stop());
  beforeEach(() => service.database.query('delete from platform_folders'));

  const folder = async (name: string, parent: string | null = null): Promise<string> =>
    (await admin('POST', '/folders', { name, parent })).body.data.id;

  it('creates, reads, changes and deletes folders', async () => {
    const created = await admin('POST', '/folders', { name: 'Pictures' });
    expect(created.status).to.equal(200);
    const { id } = created.body.data;
    expect(created.body.data).to.deep.equal({ id, name: 'Pictures', parent: null });
    const many = await admin('POST', '/folders', [{ name: 'A', parent: id }, { name: 'B' }]);
    expect(many.body.data.map((one: { name: string }) => one.name)).to.deep.equal(['A', 'B']);
    expect((await admin('PATCH', `/folders/${id}`, { name: 'Photos' })).body.data.name).to.equal('Photos');
    expect((await admin('GET', `/folders/${id}?fields=name`)).body.data).to.deep.equal({ name: 'Photos' });
    expect((await admin('GET', '/folders?fields=name,parent.name&sort=name')).body.data).to.deep.equal([
      { name: 'A', parent: { name: 'Photos' } },
      { name: 'B', parent: null },
      { name: 'Photos', parent: null },
    ]);
    const found = await admin('SEARCH', '/folders', { query: { filter: { parent: { name: { _eq: 'Photos' } } } } });
    expect(found.body.data).to.deep.equal([many.body.data[0]]);
    expect((await admin('DELETE', '/folders', [id, many.body.data[0].id])).status).to.equal(204);
    expect((await admin('GET', '/folders?fields=name')).body.data).to.deep.equal([{ name: 'B' }]);
  });

  it('creates a folder with its parent folders in one payload', async () => {
    const { body } = await admin('POST', '/folders?fields=name,parent.name', { name: 'low', parent: { name: 'high' } });
    expect(body.data).to.deep.equal({ name: 'low', parent: { name: 'high' } });
  });

  it('rejects invalid folders', async () => {
    expect(errorCodeOf(await admin('POST', '/folders', {}))).to.equal('FAILED_VALIDATION');
    expect(errorCodeOf(await admin('POST', '/folders', { name: null }))).to.equal('FAILED_VALIDATION');
    expect(statusAndCodeOf(await admin('POST', '/folders', { name: 'x', colour: 'red' }))).to.deep.equal([
      400,
      'INVALID_PAYLOAD',
    ]);
    expect(errorCodeOf(await admin('POST', '/folders', { name: 'x'.repeat(256) }))).to.equal('VALUE_TOO_LONG');
    const parent = '11111111-1111-4111-8111-111111111111';
    expect(statusAndCodeOf(await admin('POST', '/folders', { name: 'x', parent }))).to.deep.equal([
      400,
      'INVALID_FOREIGN_KEY',
    ]);
    expect((await admin('GET', '/folders')).body.data).to.deep.equal([]);
  });

  it('moves the content of a deleted folder to the top level', async () => {
    const above = await folder('above');
    const below = await folder('below', above);
    expect((await admin('DELETE', `/folders/${above}`)).status).to.equal(204);
    expect((await admin('GET', `/folders/${below}`)).body.data.parent).to.equal(null);
    expect((await admin('DELETE', '/folders', { keys: [below] })).status).to.equal(204);
    expect((await admin('GET', '/folders')).body.data).to.deep.equal([]);
  });

  describe('a folder cannot contain itself', () => {
    const refused = [400, 'INVALID_PAYLOAD'];

    it('directly or through folders below', async () => {
      const a = await folder('a');
      const b = await folder('b', a);
      const c = await folder('c', b);
      for (const parent of [a, b, c]) {
        expect(statusAndCodeOf(await admin('PATCH', `/folders/${a}`, { parent }))).to.deep.equal(refused);
      }
      expect((await admin('GET', `/folders/${a}`)).body.data.parent).to.equal(null);
      expect((await admin('PATCH', `/folders/${c}`, { parent: a })).status).to.equal(200);
      expect((await admin('PATCH', `/folders/${b}`, { parent: c })).status).to.equal(200);
    });

    it('when it is created', async () => {
      const id = '22222222-2222-4222-8222-222222222222';
      const other = '33333333-3333-4333-8333-333333333333';
      expect(statusAndCodeOf(await admin('POST', '/folders', { id, name: 'x', parent: id }))).to.deep.equal(refused);
      const ring = [
        { id, name: 'x', parent: other },
        { id: other, name: 'y', parent: id },
      ];
      expect(statusAndCodeOf(await admin('POST', '/folders', ring))).to.deep.equal(refused);
      expect((await admin('GET', '/folders')).body.data).to.deep.equal([]);
    });

    it('when one payload moves several', async () => {
      const [a, b] = [await folder('a'), await folder('b')];
      const nested = await admin('PATCH', `/folders/${a}`, { parent: { id: b, parent: a } });
      expect(statusAndCodeOf(nested)).to.deep.equal(refused);
      const swap = await admin('PATCH', '/folders', [
        { id: a, parent: b },
        { id: b, parent: a },
      ]);
      expect(statusAndCodeOf(swap)).to.deep.equal(refused);
      const parents = (await admin('GET', '/folders?fields=parent')).body.data;
      expect(parents).to.deep.equal([{ parent: null }, { parent: null }]);
    });

    it('when two are moved into each other at the same moment', async () => {
      for (let round = 0; round < 5; round++) {
        const [a, b] = [await folder('a'), await folder('b')];
        const replies = await Promise.all([
          admin('PATCH', `/folders/${a}`, { parent: b }),
          admin('PATCH', `/folders/${b}`, { parent: a }),
        ]);
        expect(replies.map(({ status }) => status).sort()).to.deep.equal([200, 400]);
      }
    });
  });

  it('applies the permissions of the caller', async () => {
    const id = await folder('kept');
    const app = await createTestUserAccount(service, await makeRole(service, { app_access: true }));
    for (const ask of [createUserSender(service, null), app.ask]) {
      for (const [method, path, body] of [
        ['GET', '/folders'],
        ['SEARCH', '/folders', { query: {} }],
        ['GET', `/folders/${id}`],
        ['POST', '/folders', { name: 'x' }],
        ['PATCH', `/folders/${id}`, { name: 'x' }],
        ['DELETE', `/folders/${id}`],
      ] as const) {
        expect(statusAndCodeOf(await ask(method, path, body)), `${method} ${path}`).to.deep.equal([403, 'FORBIDDEN']);
      }
    }
    const { ask } = await createTestUserAccount(service, await makeRole(service, {}, FULL));
    expect((await ask('PATCH', `/folders/${id}`, { name: 'changed' })).body.data.name).to.equal('changed');
    expect((await ask('DELETE', `/folders/${id}`)).status).to.equal(204);
  });
});
