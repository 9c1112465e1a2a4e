import { expect } from 'chai';
import sharp from 'sharp';
import type { Caller } from '#kernel';
import type { IncomingFile } from '../../../plugins/files/contract.ts';
import { createCaller } from '../../support/caller.ts';
import { captureError } from '../../support/test-plugins.ts';
import { createTestUserAccount, makeRole, type PermissionInput } from '../users/test-users.ts';
import { byteChunks, createThrowingByteSource, type FilesFixture, startFilesFixture } from './files-fixture.ts';

const text = (content: string, more: Partial<IncomingFile> = {}): IncomingFile => ({
  bytes: byteChunks(content),
  filename: 'second.md',
  type: 'text/markdown',
  metadata: {},
  ...more,
});

describe('files.replace', () => {
  let ground: FilesFixture;
  let admin: Caller;
  before(async () => {
    ground = await startFilesFixture();
    admin = ground.admin.caller;
  });
  after(() => ground.stop());

  const picture = async (metadata: IncomingFile['metadata'] = {}): Promise<string> => {
    const bytes = await sharp({ create: { width: 6, height: 4, channels: 3, background: 'red' } })
      .withExif({ IFD0: { Make: 'Tenon' } })
      .jpeg()
      .toBuffer();
    return ground.files.create(admin, {
      bytes: byteChunks(bytes),
      filename: 'first.jpg',
      type: 'image/jpeg',
      metadata,
    });
  };

  /** Creates a user whose only permission is this one to update files. */
  const changer = async (grant: Partial<PermissionInput>): Promise<Caller> => {
    const role = await makeRole(ground, {}, [{ collection: 'platform_files', action: 'update', ...grant }]);
    const { id } = await createTestUserAccount(ground, role);
    return createCaller({ user: id, role });
  };

  it('a replacement keeps the key and the written fields, and updates every field derived from the bytes', async () => {
    const id = await picture({ title: 'Kept', description: 'Kept too', tags: ['t'] });
    const before = await ground.row(id);
    expect(before).to.include({ width: 6, detected_type: 'image/jpeg', filename_disk: `${id}.jpg` });
    expect(await ground.files.replace(admin, id, text('other'))).to.equal(id);
    const row = await ground.row(id);
    expect(row).to.deep.include({
      title: 'Kept',
      description: 'Kept too',
      tags: ['t'],
      filename_download: 'second.md',
      type: 'text/markdown',
      filesize: '5',
      detected_type: null,
      width: null,
      height: null,
      metadata: null,
      uploaded_by: admin.user,
      modified_by: admin.user,
    });
    expect(row.filename_disk).to.match(new RegExp(`^${id}-[0-9a-f]{8}\\.md$`));
    expect(row.uploaded_on).to.be.greaterThan(before.uploaded_on as Date);
    expect(row.created_on).to.deep.equal(before.created_on);
    expect((await ground.bytes(id)).toString()).to.equal('other');
  });

  it('a replacement has removed the old object and its variants when it resolves', async () => {
    const id = await picture();
    const local = ground.storage.at('local');
    for (const name of [`${id}__00ff.webp`, `${id}__00ff.avif`]) await local.write(name, byteChunks('made'));
    await ground.files.replace(admin, id, text('other'));
    const { filename_disk: name } = await ground.row(id);
    expect((await ground.objects()).filter((one) => one.includes(id))).to.deep.equal([name]);
    expect(await ground.orphanEntries()).to.deep.equal([]);
    await local.write(`${name.replace('.md', '')}__00ff.webp`, byteChunks('made'));
    await ground.files.replace(admin, id, text('third', { filename: undefined, type: undefined }));
    const row = await ground.row(id);
    expect((await ground.objects()).filter((one) => one.includes(id))).to.deep.equal([row.filename_disk]);
    expect(row).to.include({ filename_download: 'second.md', type: 'text/markdown' });
  });

  it('a replacement takes new field values together with the bytes', async () => {
    const id = await picture({ title: 'Old' });
    await ground.files.replace(
      admin,
      id,
      text('x', { metadata: { title: 'New', description: null, filename_disk: 'evil' } }),
    );
    expect(await ground.row(id)).to.include({ title: 'New', description: null });
  });

  it('a row without bytes gets them in the location of the row or of the sender', async () => {
    const createRow = async (body: Record<string, unknown>) =>
      (await ground.request('POST', '/files', { token: ground.admin.token, body: { type: 'text/plain', ...body } }))
        .body.data.id as string;
    const [here, there, moved] = [await createRow({}), await createRow({ storage: 'second' }), await createRow({})];
    for (const id of [here, there]) await ground.files.replace(admin, id, text('x'));
    await ground.files.replace(admin, moved, text('x', { metadata: { storage: 'second' } }));
    const places = await Promise.all([here, there, moved].map(async (id) => (await ground.row(id)).storage));
    expect(places).to.deep.equal(['local', 'second', 'second']);
    expect(await ground.objects('second')).to.include((await ground.row(moved)).filename_disk);
  });

  it('a replacement with another storage location is rejected before a byte is read', async () => {
    const id = await picture();
    for (const storage of ['second', 'third']) {
      const bytes = createThrowingByteSource();
      const error = await captureError(ground.files.replace(admin, id, text('', { bytes, metadata: { storage } })));
      expect(error).to.include({ code: 'INVALID_PAYLOAD' });
      expect(bytes.taken()).to.equal(false);
    }
    await ground.files.replace(admin, id, text('x', { metadata: { storage: 'local' } }));
    expect((await ground.row(id)).storage).to.equal('local');
  });

  it('no byte is read from a caller who may not update this row or these fields', async () => {
    const [mine, other] = [await picture({ title: 'Mine' }), await picture({ title: 'Other' })];
    const some = await changer({ permissions: { title: { _eq: 'Mine' } } });
    const few = await changer({ fields: ['title', 'description'] });
    const none = createCaller();
    for (const [caller, id, metadata] of [
      [some, other, {}],
      [some, 'no uuid', {}],
      [some, '00000000-0000-4000-8000-000000000000', {}],
      [admin, '00000000-0000-4000-8000-000000000000', {}],
      [few, mine, {}],
      [none, mine, {}],
    ] as const) {
      const bytes = createThrowingByteSource();
      const error = await captureError(ground.files.replace(caller, id, text('', { bytes, metadata })));
      expect([(error as { code?: string }).code, bytes.taken()], `${id}`).to.deep.equal(['FORBIDDEN', false]);
      const checked = await captureError(ground.files.check(caller, { filename: 'x', metadata }, id));
      expect(checked).to.include({ code: 'FORBIDDEN' });
    }
    await ground.files.replace(some, mine, text('x'));
    expect(await ground.row(mine)).to.include({ filesize: '1', modified_by: some.user });
    expect((await ground.bytes(other)).length).to.be.greaterThan(100);
  });

  it('a failed replacement changes neither row nor object', async () => {
    const small = await changer({ validation: { filesize: { _lte: 3 } } });
    const id = await picture();
    const before = await ground.row(id);
    const bytes = await ground.bytes(id);
    async function* broken() {
      yield Buffer.alloc(10);
      throw new Error('gone');
    }
    for (const work of [
      () => ground.files.replace(admin, id, text('', { bytes: broken() })),
      () => ground.files.replace(small, id, text('too long')),
      () => ground.files.replace(admin, id, text('x'), { maxBytes: 0 }),
    ]) {
      await captureError(work());
      expect(await ground.row(id)).to.deep.equal(before);
      expect(await ground.bytes(id)).to.deep.equal(bytes);
      expect((await ground.objects()).filter((one) => one.includes(id))).to.deep.equal([`${id}.jpg`]);
      expect(await ground.orphanEntries()).to.deep.equal([]);
    }
  });

  it('concurrent replacements end with exactly the bytes of one of them', async () => {
    const id = await picture();
    const contents = Array.from({ length: 8 }, (_, at) => `content ${at} `.repeat(at * 1000 + 1));
    await Promise.all(contents.map((content) => ground.files.replace(admin, id, text(content))));
    const row = await ground.row(id);
    const bytes = (await ground.bytes(id)).toString();
    expect(contents).to.include(bytes);
    expect(row.filesize).to.equal(String(bytes.length));
    expect((await ground.objects()).filter((one) => one.includes(id))).to.deep.equal([row.filename_disk]);
    expect(await ground.orphanEntries()).to.deep.equal([]);
  });

  it('a replacement of a file deleted meanwhile fails with FORBIDDEN and leaves no object', async () => {
    const id = await picture();
    async function* slow() {
      yield Buffer.from('1');
      await ground.request('DELETE', `/files/${id}`, { token: ground.admin.token });
      yield Buffer.from('2');
    }
    expect(await captureError(ground.files.replace(admin, id, text('', { bytes: slow() })))).to.include({
      code: 'FORBIDDEN',
    });
    expect((await ground.objects()).filter((one) => one.includes(id))).to.deep.equal([]);
    expect(await ground.orphanEntries()).to.deep.equal([]);
  });
});
