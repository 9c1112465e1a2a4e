import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import sharp from 'sharp';
import type { Caller } from '#kernel';
import type { IncomingFile } from '../../../plugins/files/contract.ts';
import { createCaller } from '../../support/caller.ts';
import { captureError } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';
import { withIptc } from '../media/metadata-blocks.ts';
import { createTestUserAccount, makeRole } from '../users/test-users.ts';
import { byteChunks, createThrowingByteSource, type FilesFixture, startFilesFixture } from './files-fixture.ts';

const text = (content: string, more: Partial<IncomingFile> = {}): IncomingFile => ({
  bytes: byteChunks(content),
  filename: 'note.txt',
  type: 'text/plain',
  metadata: {},
  ...more,
});

const uploads: Record<string, unknown>[] = [];

describe('files.create and files.check', () => {
  let ground: FilesFixture;
  let admin: Caller;
  before(async () => {
    ground = await startFilesFixture({
      env: { FILES_MAX_UPLOAD_SIZE: '1mb', FILES_MIME_TYPE_ALLOW_LIST: 'text/*,image/*,application/octet-stream' },
      events: { action: ['files.upload'] },
    });
    admin = ground.admin.caller;
    ground.host.events.onAction('files.upload', (meta) => void uploads.push(meta));
  });
  after(() => ground.stop());

  /** Creates a user whose only permission is this one to create files. */
  const creator = async (grant: Record<string, unknown>): Promise<Caller> => {
    const role = await makeRole(ground, {}, [{ collection: 'platform_files', action: 'create', ...grant }]);
    const { id } = await createTestUserAccount(ground, role);
    return createCaller({ user: id, role });
  };

  /** Returns the error code of a rejected upload, and asserts that it left no object without a row. */
  const refused = async (work: Promise<unknown>): Promise<string> => {
    const error = await captureError<{ code?: string; failures?: { code: string }[]; message: string }>(work);
    const rows = await ground.database.query<{ storage: string; filename_disk: string }>(
      'select storage, filename_disk from platform_files order by filename_disk',
    );
    for (const place of ['local', 'second'] as const) {
      const names = rows.flatMap(({ storage, filename_disk }) => (storage === place ? [filename_disk] : []));
      expect(await ground.objects(place)).to.deep.equal(names.sort());
    }
    expect(await ground.orphanEntries()).to.deep.equal([]);
    return error.code ?? error.failures?.map((one) => one.code).join(' ') ?? error.message;
  };

  describe('a successful upload', () => {
    it('an upload stores the bytes and a row that describes them', async () => {
      const start = Date.now() - 1000;
      const id = await ground.files.create(
        admin,
        text('hello wörld', { filename: 'a/b-c_d.TXT', type: 'text/plain; charset=utf-8' }),
      );
      const row = await ground.row(id);
      expect(row).to.include({
        storage: 'local',
        filename_disk: `${id}.txt`,
        filename_download: 'b-c_d.TXT',
        title: 'B C D',
        type: 'text/plain',
        charset: 'utf-8',
        filesize: '12',
        detected_type: null,
        width: null,
        uploaded_by: admin.user,
        folder: null,
      });
      for (const moment of ['created_on', 'uploaded_on', 'modified_on'])
        expect((row[moment] as Date).getTime(), moment).to.be.within(start, Date.now() + 1000);
      expect((await ground.bytes(id)).toString()).to.equal('hello wörld');
      expect(await ground.orphanEntries()).to.deep.equal([]);
    });

    it('an upload emits one files.upload with key and payload, and one row of activity', async () => {
      uploads.length = 0;
      const id = await ground.files.create(admin, text('x', { metadata: { description: 'said' } }));
      expect(uploads).to.have.length(1);
      expect(uploads[0]).to.include({ event: 'files.upload', key: id, collection: 'platform_files' });
      expect(uploads[0]?.payload).to.include({ description: 'said', filename_disk: `${id}.txt`, filesize: 1 });
      expect(await ground.database.query('select action from platform_activity where item = $1', [id])).to.deep.equal([
        { action: 'create' },
      ]);
    });

    it('an upload takes the fields of the sender and ignores those that only the platform sets', async () => {
      const metadata = {
        title: 'Said',
        description: 'Also said',
        tags: ['a', 'b'],
        filename_download: 'called/so.txt',
        filename_disk: '../../evil',
        uploaded_by: null,
        detected_type: 'text/html',
        filesize: 7,
        storage: 'second',
      };
      const id = await ground.files.create(admin, text('12', { metadata }));
      expect(await ground.row(id)).to.deep.include({
        title: 'Said',
        description: 'Also said',
        tags: ['a', 'b'],
        filename_download: 'so.txt',
        filename_disk: `${id}.txt`,
        uploaded_by: admin.user,
        detected_type: null,
        filesize: '2',
        storage: 'second',
      });
      expect(await ground.objects('second')).to.include(`${id}.txt`);
    });

    it('an upload reads size, type and allowed metadata of an image from its bytes', async () => {
      const picture = await sharp({ create: { width: 6, height: 4, channels: 3, background: 'red' } })
        .withExif({ IFD0: { Make: 'Tenon', Artist: 'Ann' } })
        .jpeg()
        .toBuffer();
      const id = await ground.files.create(admin, {
        bytes: byteChunks(picture.subarray(0, 50), picture.subarray(50)),
        metadata: {},
      });
      expect(await ground.row(id)).to.deep.include({
        type: 'image/jpeg',
        detected_type: 'image/jpeg',
        filename_download: 'file',
        filename_disk: id,
        width: 6,
        height: 4,
        metadata: { ifd0: { Make: 'Tenon' } },
      });
    });

    it('IPTC headline, caption and keywords fill title, description and tags that the sender leaves out', async () => {
      const image = await sharp({ create: { width: 2, height: 2, channels: 3, background: 'red' } })
        .jpeg()
        .toBuffer();
      const picture = withIptc(image, [
        [105, 'A headline'],
        [25, 'sea'],
        [25, 'sand'],
        [120, 'Words'],
      ]);
      const send = (metadata: IncomingFile['metadata']) =>
        ground.files.create(admin, { bytes: byteChunks(picture), filename: 'x.jpg', type: 'image/jpeg', metadata });
      const values = { title: 'Mine', tags: ['own'] };
      expect(await ground.row(await send({}))).to.deep.include({
        title: 'A headline',
        description: 'Words',
        tags: ['sea', 'sand'],
      });
      expect(await ground.row(await send(values))).to.deep.include({ ...values, description: 'Words' });
    });

    it('type is the declared type and detected_type the one of the content', async () => {
      const picture = await sharp({ create: { width: 1, height: 1, channels: 3, background: 'red' } })
        .png()
        .toBuffer();
      const id = await ground.files.create(admin, {
        bytes: byteChunks(picture),
        filename: 'x.txt',
        type: 'text/plain',
        metadata: {},
      });
      expect(await ground.row(id)).to.include({
        type: 'text/plain',
        detected_type: 'image/png',
        filename_disk: `${id}.txt`,
      });
    });

    it('the type comes from the name if nothing is declared or detected, else it is application/octet-stream', async () => {
      const css = await ground.files.create(admin, { bytes: byteChunks('a{}'), filename: 'a.css', metadata: {} });
      const what = await ground.files.create(admin, { bytes: byteChunks('a'), metadata: { type: 'no type' } });
      expect((await ground.row(css)).type).to.equal('text/css');
      expect((await ground.row(what)).type).to.equal('application/octet-stream');
    });

    it('an empty file is stored', async () => {
      const id = await ground.files.create(admin, text(''));
      expect([(await ground.row(id)).filesize, (await ground.bytes(id)).length]).to.deep.equal(['0', 0]);
    });

    it('an upload with a chosen id gets an object name that was never used', async () => {
      const id = 'AAAAAAAA-0000-4000-8000-000000000001';
      expect(await ground.files.create(admin, text('1'), { id })).to.equal(id.toLowerCase());
      expect((await ground.row(id)).filename_disk).to.match(/^aaaaaaaa-0000-4000-8000-000000000001-[0-9a-f]{8}\.txt$/);
      expect(await refused(ground.files.create(admin, text('2'), { id }))).to.equal('RECORD_NOT_UNIQUE');
      expect(await refused(ground.files.create(admin, text('2', { metadata: { id } })))).to.equal('RECORD_NOT_UNIQUE');
      expect((await ground.bytes(id)).toString()).to.equal('1');
    });

    it('an upload without a folder lies in storage_default_folder', async () => {
      const [folder] = await ground.database.query<{ id: string }>(
        `insert into platform_folders (id, name) values (gen_random_uuid(), 'in') returning id`,
      );
      const { admin: who, request } = ground;
      const set = (value: unknown) =>
        request('PATCH', '/settings', { token: who.token, body: { storage_default_folder: value } });
      expect((await set(folder?.id)).status).to.equal(200);
      const inside = await ground.files.create(await creator({ fields: ['title'] }), text('1'));
      const outside = await ground.files.create(admin, text('1', { metadata: { folder: null } }));
      const preset = await ground.files.create(await creator({ presets: { folder: null } }), text('1'));
      await set(null);
      const folders = [inside, outside, preset].map(async (id) => (await ground.row(id)).folder);
      expect(await Promise.all(folders)).to.deep.equal([folder?.id, null, null]);
    });
  });

  describe('permissions of an upload', () => {
    it('no byte is read from a caller who may not create files', async () => {
      const role = await makeRole(ground);
      const bytes = createThrowingByteSource();
      const callerWithoutPermissions = createCaller({ role });
      expect(await refused(ground.files.create(callerWithoutPermissions, text('', { bytes })))).to.equal('FORBIDDEN');
      expect(bytes.taken()).to.equal(false);
    });

    it('no byte is read if a field is not permitted or a value is not valid', async () => {
      const few = await creator({ fields: ['title'], validation: { title: { _starts_with: 'A' } } });
      for (const [metadata, code] of [
        [{ title: 'A', description: 'x' }, 'FORBIDDEN'],
        [{ storage: 'second' }, 'FORBIDDEN'],
        [{ title: 'B' }, 'FAILED_VALIDATION'],
        [{ storage: 'third' }, 'INVALID_PAYLOAD'],
        [{ id: 'no uuid' }, 'INVALID_PAYLOAD'],
      ] as const) {
        const bytes = createThrowingByteSource();
        expect(
          await refused(ground.files.create(few, text('', { bytes, metadata }))),
          JSON.stringify(metadata),
        ).to.equal(code);
        expect(bytes.taken(), JSON.stringify(metadata)).to.equal(false);
      }
      const id = await ground.files.create(few, text('1', { metadata: { title: 'Allowed' } }));
      expect(await ground.row(id)).to.include({
        title: 'Allowed',
        filename_download: 'note.txt',
        uploaded_by: few.user,
      });
    });

    it('a validation of filesize is checked after the upload, and a file that fails it is not kept', async () => {
      const small = await creator({ validation: { filesize: { _lte: 3 } } });
      const id = await ground.files.create(small, text('123'));
      expect((await ground.row(id)).filesize).to.equal('3');
      expect(await refused(ground.files.create(small, text('1234')))).to.equal('FAILED_VALIDATION');
    });

    it('presets of the permission win over the defaults of the platform', async () => {
      const caller = await creator({
        fields: ['description'],
        presets: { title: 'Preset', storage: 'second', tags: ['p'] },
      });
      const id = await ground.files.create(caller, text('1', { filename: 'other.txt' }));
      expect(await ground.row(id)).to.deep.include({ title: 'Preset', storage: 'second', tags: ['p'] });
      expect(await ground.objects('second')).to.include(`${id}.txt`);
    });
  });

  describe('a rejected upload', () => {
    it('a file over the size limit is rejected as soon as it exceeds it', async () => {
      let sent = 0;
      async function* endless() {
        for (;;) {
          sent += 65536;
          yield Buffer.alloc(65536);
        }
      }
      expect(await refused(ground.files.create(admin, text('', { bytes: endless() })))).to.equal('CONTENT_TOO_LARGE');
      expect(sent).to.be.within(1024 ** 2, 1024 ** 2 + 2 * 65536);
      const exact = text('', { bytes: byteChunks(Buffer.alloc(1024 ** 2)) });
      expect((await ground.row(await ground.files.create(admin, exact))).filesize).to.equal(String(1024 ** 2));
      expect(await refused(ground.files.create(admin, text('12345'), { maxBytes: 4 }))).to.equal('CONTENT_TOO_LARGE');
    });

    it('a type outside of FILES_MIME_TYPE_ALLOW_LIST is rejected: declared before a byte is read, detected afterwards', async () => {
      const bytes = createThrowingByteSource();
      const declared = ground.files.create(admin, text('', { bytes, type: 'application/pdf' }));
      expect((await captureError(declared)).message).to.contain('application/pdf');
      expect(bytes.taken()).to.equal(false);
      const zip = Buffer.from('504b0304140000000000000000000000000000000000000000000500000061', 'hex');
      expect(
        await refused(ground.files.create(admin, text('', { bytes: byteChunks(zip, Buffer.alloc(64)) }))),
      ).to.equal('INVALID_PAYLOAD');
      const named = ground.files.create(admin, { bytes: byteChunks('%!'), filename: 'a.pdf', metadata: {} });
      expect(await refused(named)).to.equal('INVALID_PAYLOAD');
    });

    it('a type outside of FILES_MIME_TYPE_ALLOW_LIST is rejected for rows without bytes and for updates', async () => {
      const { token } = ground.admin;
      const id = await ground.files.create(admin, text('page'));
      const askFor = async (method: string, path: string, body: unknown) => {
        const { status, body: answer } = await ground.request(method, path, { token, body });
        const [error] = (answer as { errors?: { extensions: { code: string; field?: string } }[] }).errors ?? [];
        return [status, error?.extensions.code, error?.extensions.field];
      };
      const refusal = [400, 'INVALID_PAYLOAD', 'type'];
      expect(await askFor('POST', '/files', { type: 'application/pdf' })).to.deep.equal(refusal);
      for (const type of ['application/pdf', 'no type'])
        expect(await askFor('PATCH', `/files/${id}`, { type }), type).to.deep.equal(refusal);
      const query = `mutation { update_files_item(id: "${id}", data: { type: "application/pdf" }) { id } }`;
      const [, code] = await askFor('POST', '/graphql/system', { query });
      expect(code, 'by GraphQL').to.equal('INVALID_PAYLOAD');
      for (const type of ['text/html', null])
        expect((await askFor('PATCH', `/files/${id}`, { type }))[0], String(type)).to.equal(200);
    });

    it('an upload whose source fails rejects with the error of the source', async () => {
      async function* broken() {
        yield Buffer.alloc(100_000);
        throw Object.assign(new Error('the client went away'), { code: 'GONE' });
      }
      expect(await refused(ground.files.create(admin, text('', { bytes: broken() })))).to.equal('GONE');
    });

    it('files.check rejects by the description alone what files.create would reject', async () => {
      const { files } = ground;
      const codeOf = async (work: Promise<void>) => (await captureError<{ code: string }>(work)).code;
      await files.check(admin, { type: 'text/plain', metadata: {}, size: 1024 ** 2 });
      expect(await codeOf(files.check(admin, { metadata: {}, size: 1024 ** 2 + 1 }))).to.equal('CONTENT_TOO_LARGE');
      expect(await codeOf(files.check(admin, { type: 'video/mp4', metadata: {} }))).to.equal('INVALID_PAYLOAD');
      const few = await creator({ fields: ['title'] });
      expect(await codeOf(files.check(few, { metadata: { description: '' } }))).to.equal('FORBIDDEN');
      expect(await codeOf(files.check(few, { metadata: {} }, 'AAAAAAAA-0000-4000-8000-000000000001'))).to.equal(
        'FORBIDDEN',
      );
      expect(await ground.orphanEntries()).to.deep.equal([]);
    });

    it('a storage that cannot write makes the upload fail with SERVICE_UNAVAILABLE and leaves nothing', async () => {
      const location = ground.storage.at('local');
      const { write } = location;
      Object.assign(location, {
        async write(_name: string, source: AsyncIterable<Uint8Array>) {
          for await (const _part of source) throw Object.assign(new Error('no space at /secret'), { code: 'ENOSPC' });
        },
      });
      try {
        const error = await captureError(ground.files.create(admin, text('1')));
        expect(error).to.include({ code: 'SERVICE_UNAVAILABLE' });
        expect(error.message).not.to.contain('secret');
        expect(await ground.orphanEntries()).to.deep.equal([]);
      } finally {
        Object.assign(location, { write });
      }
    });
  });

  it('files.create inside a unit of work fails before it reads a byte', async () => {
    const bytes = createThrowingByteSource();
    await captureError(ground.host.db.transaction(() => ground.files.create(admin, text('', { bytes }))));
    expect(bytes.taken()).to.equal(false);
  });
});

const HOOK = `
const events = globalThis[Symbol.for('tenon.test.files')];
export default ({ filter, action }) => {
  for (const name of ['files.create', 'files.update', 'files.upload', 'files.delete']) {
    filter(name, (payload, { event }) => void events.push('filter ' + event));
    action(name, ({ event, key, keys, collection, payload }) => void events.push({ event, key: key ?? keys, collection, size: payload?.filesize }));
  }
};`;

describe('files: events that extensions receive', () => {
  const events: unknown[] = [];
  Object.assign(globalThis, { [Symbol.for('tenon.test.files')]: events });
  let folder: string;
  let ground: FilesFixture;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-files-hook-'));
    const place = join(folder, 'service-extension-ear');
    await mkdir(place);
    const manifest = { type: 'hook', path: 'index.js', source: 'index.js', host: '^1.0.0' };
    await writeFile(
      join(place, 'package.json'),
      JSON.stringify({
        name: 'service-extension-ear',
        version: '1.0.0',
        type: 'module',
        'service:extension': manifest,
      }),
    );
    await writeFile(join(place, 'index.js'), HOOK);
    ground = await startFilesFixture({ env: { EXTENSIONS_PATH: folder } });
  });
  after(async () => {
    await ground.stop();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => void events.splice(0));

  it('an upload and a replacement emit one files.upload each', async () => {
    const { caller } = ground.admin;
    const id = await ground.files.create(caller, text('123'));
    await ground.files.replace(caller, id, text('12'));
    await until(() => events.length >= 2);
    expect(events).to.deep.equal([
      { event: 'files.upload', key: id, collection: 'platform_files', size: 3 },
      { event: 'files.upload', key: id, collection: 'platform_files', size: 2 },
    ]);
  });

  it('rows written without bytes emit the events of any collection', async () => {
    const { request, admin } = ground;
    const created = await request('POST', '/files', { token: admin.token, body: { type: 'image/png' } });
    const { id } = created.body.data;
    await request('PATCH', `/files/${id}`, { token: admin.token, body: { title: 'new' } });
    await request('DELETE', `/files/${id}`, { token: admin.token });
    await until(() => events.length >= 6);
    const names = events.map((one) => (typeof one === 'string' ? one : (one as { event: string }).event));
    expect(names).to.have.members([
      'filter files.create',
      'files.create',
      'filter files.update',
      'files.update',
      'filter files.delete',
      'files.delete',
    ]);
  });
});
