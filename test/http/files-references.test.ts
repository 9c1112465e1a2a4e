import { expect } from 'chai';
import { byteChunks, type FilesFixture, startFilesFixture } from '../plugins/files/files-fixture.ts';
import { createTestUserAccount, createUserSender, makeRole, statusAndCodeOf } from '../plugins/users/test-users.ts';

const key = { field: 'id', type: 'integer', schema: { has_auto_increment: true, is_primary_key: true } };
/** Collections whose reference to a file is NOT NULL, with the "on delete" rule of the foreign key. */
const NEEDING = { needing: 'NO ACTION', dragging: 'CASCADE' };

describe('DELETE /files of referenced files', () => {
  let ground: FilesFixture;
  before(async () => {
    ground = await startFilesFixture();
    const admin = createUserSender(ground, ground.admin.token);
    const ok = async (path: string, body: unknown) => {
      const created = await admin('POST', path, body);
      expect(created.status, JSON.stringify(created.body)).to.equal(200);
    };
    const holder = async (name: string, schema: unknown, column: Record<string, unknown> = {}) => {
      const file = { field: 'file', type: 'uuid', schema: { ...column } };
      await ok('/collections', { collection: name, schema: {}, fields: [key, file] });
      await ok('/relations', { collection: name, field: 'file', related_collection: 'platform_files', schema });
    };
    await holder('nulled', { on_delete: 'SET NULL' });
    await holder('silent', { on_delete: 'NO ACTION' });
    await holder('loosely', null);
    await holder('dragged', { on_delete: 'CASCADE' });
    await holder('holding', { on_delete: 'RESTRICT' });
    await holder('reset', { on_delete: 'SET DEFAULT' });
    for (const [name, rule] of Object.entries(NEEDING)) await holder(name, { on_delete: rule }, { is_nullable: false });
    await ok('/collections', { collection: 'album', schema: {}, fields: [key] });
    await ok('/fields/platform_files', { field: 'album', type: 'integer' });
    await ok('/fields/album', { field: 'pictures', type: 'alias', meta: { special: ['o2m'] } });
    await ok('/relations', {
      collection: 'platform_files',
      field: 'album',
      related_collection: 'album',
      meta: { one_field: 'pictures', one_deselect_action: 'delete' },
    });
    await ok('/collections', {
      collection: 'blocks',
      schema: {},
      fields: [key, { field: 'item', type: 'string' }, { field: 'kind', type: 'string' }],
    });
    await ok('/relations', {
      collection: 'blocks',
      field: 'item',
      related_collection: null,
      meta: { one_collection_field: 'kind', one_allowed_collections: ['platform_files', 'nulled'] },
    });
    // A field by which a file refers to the file that it was made from.
    await ok('/fields/platform_files', { field: 'origin', type: 'uuid' });
    await ok('/relations', {
      collection: 'platform_files',
      field: 'origin',
      related_collection: 'platform_files',
      schema: null,
    });
  });
  after(() => ground.stop());

  const upload = (metadata: Record<string, unknown> = {}) =>
    ground.files.create(ground.admin.caller, { bytes: byteChunks('1'), filename: 'a.txt', metadata });
  const refer = (name: string, file: string) => ground.database.query(`insert into ${name} (file) values ($1)`, [file]);
  const referred = async (name: string) =>
    (await ground.database.query<{ file: string | null }>(`select file from ${name} order by id`)).map(
      ({ file }) => file,
    );
  const remove = (id: string, token: string = ground.admin.token) =>
    ground.request('DELETE', `/files/${id}`, { token });

  for (const [name, rule] of [
    ['nulled', 'SET NULL'],
    ['silent', 'no rule'],
    ['loosely', 'no foreign key'],
    ['dragged', 'CASCADE'],
    ['reset', 'SET DEFAULT'],
  ] as const) {
    it(`references with ${rule} are cleared, and no others`, async () => {
      const [gone, kept] = [await upload(), await upload()];
      for (const id of [gone, kept, gone]) await refer(name, id);
      expect((await remove(gone)).status).to.equal(204);
      expect(await referred(name)).to.deep.equal([null, kept, null]);
      expect((await ground.objects()).filter((one) => one.includes(gone))).to.deep.equal([]);
    });
  }

  for (const [way, remove] of [
    ['by keys', (id: string) => ground.request('DELETE', '/files', { token: ground.admin.token, body: [id] })],
    [
      'by query',
      (id: string) =>
        ground.request('DELETE', '/files', {
          token: ground.admin.token,
          body: { query: { filter: { id: { _eq: id } } } },
        }),
    ],
    [
      'by GraphQL',
      (id: string) =>
        ground.request('POST', '/graphql/system', {
          token: ground.admin.token,
          body: { query: `mutation { delete_files_item(id: "${id}") { id } }` },
        }),
    ],
    [
      'out of a list of another row, whose deselected files are deleted',
      async (id: string) => {
        const [album] = await ground.database.query<{ id: number }>('insert into album default values returning id');
        await ground.database.query('update platform_files set album = $1 where id = $2', [album?.id, id]);
        return ground.request('PATCH', `/items/album/${album?.id}`, {
          token: ground.admin.token,
          body: { pictures: [] },
        });
      },
    ],
  ] as const) {
    it(`references with CASCADE are cleared by a delete ${way}, and a NOT NULL one rejects the delete`, async () => {
      await ground.database.query('delete from dragged');
      const id = await upload();
      await refer('dragged', id);
      await refer('dragging', id);
      const refused = await remove(id);
      const [error] = refused.body.errors;
      const { collection, field } = error.extensions.errors?.[0]?.extensions ?? error.extensions;
      expect([collection, field]).to.deep.equal(['dragging', 'file']);
      expect(await referred('dragged')).to.deep.equal([id]);
      await ground.database.query('delete from dragging');
      const { status, body } = await remove(id);
      expect([status, body?.errors]).to.be.deep.oneOf([
        [200, undefined],
        [204, undefined],
      ]);
      expect(await referred('dragged')).to.deep.equal([null]);
      expect(await ground.database.query('select from platform_files where id = $1', [id])).to.deep.equal([]);
    });
  }

  it('a row with CASCADE that gets its reference during the delete is not deleted', async () => {
    const id = await upload();
    await ground.database.query('delete from dragged');
    await Promise.all([
      remove(id),
      ...Array.from({ length: 20 }, () => refer('dragged', id).catch((error) => expect(error.code).to.equal('23503'))),
    ]);
    const rows = await referred('dragged');
    expect(rows.every((file) => file === null)).to.equal(true);
  });

  for (const [name, why] of [
    ['holding', 'the rule is to restrict'],
    ...Object.entries(NEEDING).map(([name, rule]) => [name, `it is ${rule}, and the field must have a value`] as const),
  ] as const) {
    it(`a delete is rejected where ${why}, and row, object and references stay`, async () => {
      const [id, other] = [await upload(), await upload()];
      await refer(name, id);
      await ground.database.query('delete from loosely');
      await refer('loosely', id);
      const single = await remove(id);
      expect(statusAndCodeOf(single)).to.deep.equal([400, 'INVALID_FOREIGN_KEY']);
      if (name in NEEDING) {
        const [{ message, extensions }] = single.body.errors;
        expect(extensions).to.include({ collection: name, field: 'file' });
        expect(message).to.include(`${name}.file`);
      }
      const both = await ground.request('DELETE', '/files', { token: ground.admin.token, body: [other, id] });
      expect(statusAndCodeOf(both)).to.deep.equal([400, 'INVALID_FOREIGN_KEY']);
      expect((await ground.bytes(id)).toString()).to.equal('1');
      expect((await ground.bytes(other)).toString()).to.equal('1');
      expect([await referred(name), await referred('loosely'), await ground.orphanEntries()]).to.deep.equal([
        [id],
        [id],
        [],
      ]);
      await ground.database.query(`delete from ${name}`);
      expect((await remove(id)).status).to.equal(204);
    });
  }

  it('many-to-any references to the file are cleared', async () => {
    const id = await upload();
    await ground.database.query(
      `insert into blocks (item, kind) values ($1, 'platform_files'), ($1, 'nulled'), ('7', 'nulled')`,
      [id],
    );
    expect((await remove(id)).status).to.equal(204);
    const rows = await ground.database.query('select item, kind from blocks order by id');
    expect(rows).to.deep.equal([
      { item: null, kind: 'platform_files' },
      { item: id, kind: 'nulled' },
      { item: '7', kind: 'nulled' },
    ]);
  });

  it('references of files, users and settings are cleared', async () => {
    const id = await upload();
    const created = await upload({ origin: id });
    const person = await createTestUserAccount(ground, await makeRole(ground), { avatar: id });
    await ground.request('PATCH', '/settings', { token: ground.admin.token, body: { project_logo: id } });
    expect((await remove(id)).status).to.equal(204);
    expect((await ground.row(created)).origin).to.equal(null);
    const [user] = await ground.database.query('select avatar from platform_users where id = $1', [person.id]);
    const [settings] = await ground.database.query('select project_logo from platform_settings');
    expect([user, settings]).to.deep.equal([{ avatar: null }, { project_logo: null }]);
    const wrong = await ground.request('PATCH', `/users/${person.id}`, {
      token: ground.admin.token,
      body: { avatar: id },
    });
    expect(statusAndCodeOf(wrong)).to.deep.equal([400, 'INVALID_FOREIGN_KEY']);
  });

  it('a rejected delete does not name a collection that the caller may not read', async () => {
    const [mine, other] = [await upload({ title: 'mine' }), await upload({ title: 'other' })];
    const deletable = { collection: 'platform_files', action: 'delete', permissions: { title: { _eq: 'mine' } } };
    const person = await createTestUserAccount(ground, await makeRole(ground, {}, [deletable]));
    for (const id of [mine, other]) await refer('dragging', id);
    const refused = await remove(mine, person.token);
    expect(statusAndCodeOf(refused)).to.deep.equal([400, 'INVALID_FOREIGN_KEY']);
    expect(JSON.stringify(refused.body)).not.to.include('dragging');
    expect(statusAndCodeOf(await remove(other, person.token))).to.deep.equal([403, 'FORBIDDEN']);
    await ground.database.query('delete from dragging');
  });

  it('clearing references needs no rights to the referring rows, only to the file', async () => {
    const [mine, other] = [await upload({ title: 'mine' }), await upload({ title: 'other' })];
    const person = await createTestUserAccount(
      ground,
      await makeRole(ground, {}, [
        { collection: 'platform_files', action: 'delete', permissions: { title: { _eq: 'mine' } } },
      ]),
    );
    await ground.database.query('delete from loosely');
    for (const id of [mine, other]) await refer('loosely', id);
    expect(statusAndCodeOf(await remove(other, person.token))).to.deep.equal([403, 'FORBIDDEN']);
    expect(await referred('loosely')).to.deep.equal([mine, other]);
    expect((await remove(mine, person.token)).status).to.equal(204);
    expect(await referred('loosely')).to.deep.equal([null, other]);
  });
});
