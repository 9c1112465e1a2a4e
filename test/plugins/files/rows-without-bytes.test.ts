import { expect } from 'chai';
import { createTestUserAccount, errorCodeOf, makeRole, statusAndCodeOf } from '../users/test-users.ts';
import { byteChunks, type FilesFixture, startFilesFixture } from './files-fixture.ts';

describe('rows of files written without bytes', () => {
  let ground: FilesFixture;
  before(async () => {
    ground = await startFilesFixture();
    const { request, admin } = ground;
    const created = await request('POST', '/collections', {
      token: admin.token,
      body: {
        collection: 'albums',
        schema: {},
        fields: [
          { field: 'id', type: 'integer', schema: { has_auto_increment: true, is_primary_key: true } },
          { field: 'cover', type: 'uuid' },
        ],
      },
    });
    expect(created.status, JSON.stringify(created.body)).to.equal(200);
    const related = await request('POST', '/relations', {
      token: admin.token,
      body: { collection: 'albums', field: 'cover', related_collection: 'platform_files' },
    });
    expect(related.status, JSON.stringify(related.body)).to.equal(200);
  });
  after(() => ground.stop());

  const send = (method: string, path: string, body?: unknown, token: string = ground.admin.token) =>
    ground.request(method, path, { token, body });
  const upload = (metadata: Record<string, unknown> = {}) =>
    ground.files.create(ground.admin.caller, {
      bytes: byteChunks('123'),
      filename: 'a.txt',
      type: 'text/plain',
      metadata,
    });

  it('a row needs a MIME type; storage, title and download name have defaults', async () => {
    for (const body of [{}, { type: '' }, { type: null }, { type: 'nothing' }, { type: 7 }, { title: 'x' }])
      expect(statusAndCodeOf(await send('POST', '/files', body)), JSON.stringify(body)).to.deep.equal([
        400,
        'INVALID_PAYLOAD',
      ]);
    const { data } = (await send('POST', '/files', { type: 'image/png' })).body;
    expect(data).to.include({
      storage: 'local',
      filename_download: 'file.png',
      filename_disk: null,
      title: null,
      filesize: null,
    });
    const titled = (await send('POST', '/files', { type: 'image/png', title: 'A/B' })).body.data;
    expect(titled).to.include({ filename_download: 'A B.png', title: 'A/B' });
    const named = (await send('POST', '/files', { type: 'image/png', filename_download: 'b-c.png', storage: 'second' }))
      .body.data;
    expect(named).to.include({ title: 'B C', filename_download: 'b-c.png', storage: 'second' });
  });

  it('fields that only the platform sets are dropped without an error', async () => {
    const own = { filename_disk: 'evil.png', uploaded_by: null, detected_type: 'text/html' };
    const created = (await send('POST', '/files', { type: 'image/png', ...own })).body.data;
    expect(created).to.include({ filename_disk: null, uploaded_by: ground.admin.caller.user, detected_type: null });
    const id = await upload();
    const changed = await send('PATCH', `/files/${id}`, { ...own, title: 'changed' });
    expect(changed.body.data).to.include({
      title: 'changed',
      filename_disk: `${id}.txt`,
      uploaded_by: ground.admin.caller.user,
    });
    expect((await send('PATCH', `/files/${id}`, own)).status).to.equal(200);
    const { filename_disk } = await ground.row(id);
    expect(filename_disk).to.equal(`${id}.txt`);
  });

  it('nested writes of files follow the same rules', async () => {
    const bare = await send('POST', '/items/albums', { cover: { title: 'x' } });
    expect(errorCodeOf(bare)).to.equal('INVALID_PAYLOAD');
    const created = await send('POST', '/items/albums?fields=cover.*', {
      cover: { type: 'image/png', filename_disk: 'evil.png' },
    });
    expect(created.body.data.cover).to.include({ filename_disk: null, storage: 'local' });
    const id = await upload();
    const changed = await send('POST', '/items/albums?fields=cover.*', {
      cover: { id, filename_disk: 'evil.png', title: 'n' },
    });
    expect(changed.body.data.cover).to.include({ filename_disk: `${id}.txt`, title: 'n' });
    const moved = await send('POST', '/items/albums', { cover: { id, storage: 'second' } });
    expect(errorCodeOf(moved)).to.equal('INVALID_PAYLOAD');
  });

  it('the storage of a file with bytes cannot change', async () => {
    const id = await upload();
    for (const [storage, expected] of [
      ['local', [200, undefined]],
      ['second', [400, 'INVALID_PAYLOAD']],
      ['third', [400, 'INVALID_PAYLOAD']],
      [7, [400, 'INVALID_PAYLOAD']],
    ] as const)
      expect(statusAndCodeOf(await send('PATCH', `/files/${id}`, { storage })), String(storage)).to.deep.equal(
        expected,
      );
    const { data } = (await send('POST', '/files', { type: 'image/png' })).body;
    expect((await send('PATCH', `/files/${data.id}`, { storage: 'second' })).body.data.storage).to.equal('second');
    expect(statusAndCodeOf(await send('POST', '/files', { type: 'image/png', storage: 'third' }))).to.deep.equal([
      400,
      'INVALID_PAYLOAD',
    ]);
    await ground.database.query(`update platform_files set storage = 'former' where id = $1`, [data.id]);
    expect((await send('PATCH', `/files/${data.id}`, { storage: 'former', title: 'x' })).status).to.equal(200);
  });

  it('a caller who may write two fields creates a row, whose other fields get their defaults', async () => {
    const caller = await createTestUserAccount(
      ground,
      await makeRole(ground, {}, [
        { collection: 'platform_files', action: 'create', fields: ['type', 'title'] },
        { collection: 'platform_files', action: 'read' },
      ]),
    );
    const created = await send('POST', '/files', { type: 'image/png', title: 'T' }, caller.token);
    expect(created.body.data, JSON.stringify(created.body)).to.include({
      title: 'T',
      storage: 'local',
      filename_download: 'file',
    });
  });

  it('a caller without permission for a file gets FORBIDDEN, not what is wrong with the values', async () => {
    const id = await upload({ title: 'Other' });
    const updatesMine = { collection: 'platform_files', action: 'update', permissions: { title: { _eq: 'Mine' } } };
    const ofOthers = await createTestUserAccount(
      ground,
      await makeRole(ground, {}, [{ collection: 'platform_files', action: 'read' }, updatesMine]),
    );
    const none = await createTestUserAccount(ground, await makeRole(ground));
    for (const [method, path, body, { token }] of [
      ['PATCH', `/files/${id}`, { storage: 'second' }, ofOthers],
      ['POST', '/files', {}, none],
      ['PATCH', `/files/${id}`, { storage: 'x' }, none],
    ] as const)
      expect(statusAndCodeOf(await send(method, path, body, token)), `${method} ${path}`).to.deep.equal([
        403,
        'FORBIDDEN',
      ]);
  });
});
