import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readStoredFilesState, waitUntilFilesConsistent } from '../plugins/files-http/stored-files.ts';
import { type RecordingServer, startRecordingServer } from '../plugins/outbound/recording-server.ts';
import {
  createTestPermission,
  createTestUserAccount,
  createUserSender,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
} from '../plugins/users/test-users.ts';
import { type InProcessService, startService } from '../support/service.ts';

/** An event as a listener of a third-party extension receives it. */
interface ReceivedEvent {
  readonly kind: 'filter' | 'action';
  readonly event: string;
  readonly meta: Record<string, unknown>;
}

const RECEIVED_EVENTS = Symbol.for('files-conformance');
const HOOK = `
export default ({ filter, action }) => {
  const tell = (kind, { event, ...meta }) => globalThis[Symbol.for('files-conformance')].push({ kind, event, meta });
  for (const name of ['files.create', 'files.update', 'files.delete', 'files.upload']) {
    filter(name, (payload, meta) => void tell('filter', { ...meta, payload }));
    action(name, (meta) => void tell('action', meta));
  }
};`;

type Part = readonly [name: string, value: string | File];
const formOf = (...parts: readonly Part[]): FormData => {
  const form = new FormData();
  for (const [name, value] of parts) form.append(name, value as string);
  return form;
};
const file = (name: string, text = name, type = 'text/plain') => new File([text], name, { type });
const UNKNOWN = '11111111-1111-4111-8111-111111111111';

/** What the specification requires of /files, tested over HTTP without a client library. */
describe('/files follows the specification', () => {
  let service: InProcessService;
  let folder: string;
  let outside: RecordingServer;
  let admin: SendAsUser;
  let me: string;
  const receivedEvents: ReceivedEvent[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-files-'));
    const hook = join(folder, 'extensions', 'hooks', 'listener');
    await mkdir(hook, { recursive: true });
    await writeFile(join(hook, 'index.mjs'), HOOK);
    (globalThis as Record<symbol, unknown>)[RECEIVED_EVENTS] = receivedEvents;
    outside = await startRecordingServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/css' }).end('a{}'),
    );
    service = await startService({
      env: {
        STORAGE_LOCAL_ROOT: join(folder, 'bytes'),
        EXTENSIONS_PATH: join(folder, 'extensions'),
        IMPORT_IP_ALLOW_LIST: '127.0.0.1',
      },
    });
    admin = createUserSender(service, service.admin.token);
    me = (await admin('GET', '/users/me')).body.data.id;
  });
  after(async () => {
    await outside?.close();
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
    delete (globalThis as Record<symbol, unknown>)[RECEIVED_EVENTS];
  });

  /** Sends a request as admin, expects 200 or 204, and answers `data` of the response. */
  async function good(method: string, path: string, body?: unknown) {
    const reply = await admin(method, path, body);
    expect(reply.status, `${method} ${path}: ${JSON.stringify(reply.body)}`).to.be.oneOf([200, 204]);
    return reply.body?.data;
  }
  const upload = (...parts: readonly Part[]) => good('POST', '/files', formOf(...parts));
  const uploadFile = async (name = 'a.txt'): Promise<string> => (await upload(['file', file(name)])).id;
  const importing = (data: object) =>
    good('POST', '/files/import', { url: `http://127.0.0.1:${outside.port}/deep/some-style_sheet.css?x=1`, data });
  const objects = async () => (await readStoredFilesState(service.database, join(folder, 'bytes'))).objects.join();

  it('an upload answers the complete record of the file', async () => {
    const shelf = await good('POST', '/folders', { name: 'Shelf' });
    const started = Date.now() - 1000;
    const one = await upload(
      ['title', 'A title'],
      ['description', 'Words'],
      ['tags', '["a","b"]'],
      ['folder', shelf.id],
      ['storage', 'local'],
      ['file', file('some-file_name.txt', 'twelve bytes')],
      ['title', 'too late'],
    );
    expect(one).to.deep.include({
      storage: 'local',
      filename_disk: `${one.id}.txt`,
      filename_download: 'some-file_name.txt',
      title: 'A title',
      description: 'Words',
      tags: ['a', 'b'],
      folder: shelf.id,
      type: 'text/plain',
      filesize: '12',
      width: null,
      height: null,
      duration: null,
      uploaded_by: me,
      modified_by: null,
    });
    for (const name of ['created_on', 'uploaded_on', 'modified_on'])
      expect(Date.parse(one[name]), name).to.be.within(started, Date.now());
    expect((await upload(['file', file('some-file_name.txt')])).title).to.equal('Some File Name');
    const far = await importing({ description: 'from afar' });
    expect(far).to.deep.include({
      title: 'Some Style Sheet',
      filename_download: 'some-style_sheet.css',
      type: 'text/css',
      description: 'from afar',
      filesize: '3',
    });
  });

  it('the type of a file is the Content-Type of its part', async () => {
    for (const type of ['image/png', 'application/x-own', 'application/octet-stream', 'text/plain'])
      expect((await upload(['file', file('a.txt', 'x', type)])).type).to.equal(type);
  });

  it('a form with several files creates several rows, each with the fields right before its file', async () => {
    const all = await upload(
      ['title', 'First'],
      ['description', 'of the first'],
      ['file', file('1.txt')],
      ['file', file('second-one.txt')],
      ['title', 'Third'],
      ['file', file('3.txt')],
      ['description', 'of none'],
    );
    expect(all.map(({ title, description }: Record<string, unknown>) => [title, description])).to.deep.equal([
      ['First', 'of the first'],
      ['Second One', null],
      ['Third', null],
    ]);
  });

  describe('fields that only the platform sets', () => {
    const claims = {
      filename_disk: 'elsewhere.txt',
      uploaded_by: null,
      uploaded_on: '2001-02-03T04:05:06Z',
      created_on: '2001-02-03T04:05:06Z',
      modified_by: null,
      modified_on: '2001-02-03T04:05:06Z',
    };
    const parts = Object.entries(claims).map(([name, value]): Part => [name, value ?? 'null']);
    const isUntouched = (row: Record<string, string>) => {
      expect(row.filename_disk).not.to.equal('elsewhere.txt');
      expect(row.uploaded_by).to.equal(me);
      for (const name of ['created_on', 'uploaded_on', 'modified_on'])
        if (row[name]) expect(Date.parse(row[name]), name).to.be.greaterThan(Date.now() - 600_000);
    };

    it('platform fields are dropped when files are created', async () => {
      isUntouched(await upload(...parts, ['file', file('a.txt')]));
      isUntouched(await importing(claims));
      const row = await good('POST', '/files', { type: 'text/plain', ...claims, modified_by: me });
      isUntouched(row);
      expect([row.filename_disk, row.uploaded_on, row.modified_by]).to.deep.equal([null, null, null]);
    });

    it('platform fields are dropped by every kind of PATCH', async () => {
      const id = await uploadFile();
      const { filename_disk, uploaded_on, created_on } = await good('GET', `/files/${id}`);
      const ways: [string, unknown][] = [
        [`/files/${id}`, claims],
        [`/files/${id}`, formOf(...parts)],
        ['/files', { keys: [id], data: claims }],
        ['/files', { query: { filter: { id: { _eq: id } } }, data: claims }],
        ['/files', [{ id, ...claims }]],
      ];
      for (const [path, body] of ways) {
        await good('PATCH', path, body);
        const row = await good('GET', `/files/${id}`);
        isUntouched(row);
        expect(row).to.deep.include({ filename_disk, uploaded_on, created_on, modified_by: me });
      }
      const replaced = await good('PATCH', `/files/${id}`, formOf(...parts, ['file', file('b.txt')]));
      isUntouched(replaced);
      expect(replaced.created_on).to.equal(created_on);
      expect(Date.parse(replaced.uploaded_on)).to.be.greaterThan(Date.parse(uploaded_on) - 1);
    });

    it('platform fields in a payload need no permission', async () => {
      const role = await makeRole(service, {}, [
        { collection: 'platform_files', action: 'read' },
        { collection: 'platform_files', action: 'update', fields: ['title'] },
      ]);
      const { ask } = await createTestUserAccount(service, role);
      const id = await uploadFile();
      const changed = await ask('PATCH', `/files/${id}`, { ...claims, title: 'By a user' });
      expect([changed.status, changed.body.data?.title]).to.deep.equal([200, 'By a user']);
      expect(statusAndCodeOf(await ask('PATCH', `/files/${id}`, { description: 'x' }))).to.deep.equal([
        403,
        'FORBIDDEN',
      ]);
    });
  });

  it('POST /files with JSON creates a row without bytes and needs a MIME type', async () => {
    for (const body of [{}, { title: 'x' }, { type: '' }, { type: null }, { type: 5 }, { type: 'png' }])
      expect(statusAndCodeOf(await admin('POST', '/files', body)), JSON.stringify(body)).to.deep.equal([
        400,
        'INVALID_PAYLOAD',
      ]);
    const before = await objects();
    const row = await good('POST', '/files?fields=*,uploaded_by.email', { type: 'image/png', title: 'None yet' });
    expect(row).to.deep.include({ type: 'image/png', filename_disk: null, storage: 'local' });
    expect(row.uploaded_by).to.deep.equal({ email: service.admin.email });
    expect(await objects()).to.equal(before);
    expect(statusAndCodeOf(await admin('GET', `/assets/${row.id}`))).to.deep.equal([403, 'FORBIDDEN']);
  });

  it('replaced bytes keep id and URL and get another filename_disk', async () => {
    const id = await uploadFile('old.txt');
    const old = await good('GET', `/files/${id}`);
    const row = await good('PATCH', `/files/${id}?fields=id,filename_disk,title`, formOf(['file', file('new.txt')]));
    expect(row).to.deep.include({ id, title: old.title });
    expect(row.filename_disk).not.to.equal(old.filename_disk);
    expect(row.filename_disk).to.match(new RegExp(`^${id}`));
    expect((await admin('GET', `/assets/${id}`)).body).to.equal('new.txt');
    expect(await objects())
      .to.contain(row.filename_disk)
      .and.not.to.contain(old.filename_disk);
  });

  it('an upload without a folder goes into storage_default_folder, one with folder null into none', async () => {
    const { id } = await good('POST', '/folders', { name: 'Inbox' });
    await good('PATCH', '/settings', { storage_default_folder: id });
    const where = async (...parts: readonly Part[]) => (await upload(...parts, ['file', file('a.txt')])).folder;
    expect(await where()).to.equal(id);
    expect(await where(['folder', 'null'])).to.equal(null);
    expect((await importing({})).folder).to.equal(id);
    expect((await good('POST', '/files', { type: 'text/plain' })).folder).to.equal(null);
    await good('PATCH', '/settings', { storage_default_folder: null });
    expect(await where()).to.equal(null);
    const inside = (query: string) => good('GET', `/files?fields=folder.name&${query}`);
    expect(await inside(`filter[folder][_eq]=${id}`)).to.deep.equal(Array(2).fill({ folder: { name: 'Inbox' } }));
    expect(await inside('filter[folder][name][_eq]=Inbox')).to.have.length(2);
    await good('DELETE', `/folders/${id}`);
    expect(await inside('filter[folder][name][_eq]=Inbox')).to.deep.equal([]);
  });

  describe('reading /files', () => {
    let prefix: string;
    let ids: string[];
    before(async () => {
      prefix = `query ${Math.random()}`;
      ids = [];
      for (const [at, text] of ['a', 'bb', 'ccc'].entries())
        ids.push((await upload(['title', `${prefix} ${at}`], ['tags', '["x"]'], ['file', file(`${at}.txt`, text)])).id);
    });
    const list = (query: string) =>
      good('GET', `/files?filter[title][_starts_with]=${encodeURIComponent(prefix)}&${query}`);

    it('GET /files supports fields, sort, limit, offset, page, search and functions', async () => {
      const sized = (...sizes: number[]) => sizes.map((filesize) => ({ filesize: String(filesize) }));
      expect(await list('fields=filesize&sort=-filesize')).to.deep.equal(sized(3, 2, 1));
      expect(await list('fields=filesize&sort=title&limit=1&offset=1')).to.deep.equal(sized(2));
      expect(await list('fields=filesize&sort=title&limit=1&page=3')).to.deep.equal(sized(3));
      const found = await good('GET', `/files?search=${encodeURIComponent(`${prefix} 1`)}&fields=filesize`);
      expect(found).to.deep.equal(sized(2));
      const year = new Date().getUTCFullYear();
      expect(
        await list(`filter[year(uploaded_on)][_eq]=${year}&fields=year(uploaded_on),count(tags)&limit=1`),
      ).to.deep.equal([{ uploaded_on_year: year, tags_count: 1 }]);
      expect(
        await list('filter[uploaded_by][email][_nnull]=true&alias[by]=uploaded_by&fields=by.email&limit=1'),
      ).to.deep.equal([{ by: { email: service.admin.email } }]);
    });

    it('GET /files supports aggregates and groups', async () => {
      expect(await list('aggregate[sum]=filesize&aggregate[count]=id&groupBy=type')).to.deep.equal([
        { type: 'text/plain', sum: { filesize: '6' }, count: { id: 3 } },
      ]);
    });

    it('GET /files exports CSV, JSON, XML and YAML', async () => {
      const texts: [string, RegExp][] = [
        ['csv', /^"title","filesize"\n"query .* 0","1"/],
        ['json', /^\[\s*\{\s*"title": "query .* 0",\s*"filesize": "1"/],
        ['xml', /<filesize>1<\/filesize>/],
        ['yaml', /^- title: query .* 0\n {2}filesize: "1"/],
      ];
      for (const [format, text] of texts) {
        const response = await fetch(
          `${service.url}/files?filter[title][_starts_with]=${encodeURIComponent(prefix)}&fields=title,filesize&sort=title&export=${format}`,
          { headers: { authorization: `Bearer ${service.admin.token}` } },
        );
        expect(response.headers.get('content-disposition')).to.match(
          /^attachment; filename="?platform_files|^attachment/,
        );
        expect(await response.text(), format).to.match(text);
      }
    });

    it('SEARCH /files takes a query or keys', async () => {
      const query = { filter: { id: { _in: ids } }, sort: ['-title'], fields: ['filesize'], limit: 2 };
      expect(await good('SEARCH', '/files', { query })).to.deep.equal([{ filesize: '3' }, { filesize: '2' }]);
      const keys = await good('SEARCH', '/files', { keys: ids.slice(1), query: { fields: ['id'] } });
      expect(keys.map(({ id }: { id: string }) => id)).to.have.members(ids.slice(1));
      expect(await good('SEARCH', '/files', { keys: [ids[0]] })).to.have.length(1);
    });

    it('GET /files/:id works with a trailing slash, and a missing file is FORBIDDEN', async () => {
      for (const path of [`/files/${ids[0]}`, `/files/${ids[0]}/`])
        expect((await good('GET', `${path}?fields=filesize`)).filesize).to.equal('1');
      expect(await good('GET', '/files/?limit=1')).to.have.length(1);
      for (const path of [`/files/${UNKNOWN}`, '/files/nonsense', '/items/platform_files'])
        expect(statusAndCodeOf(await admin('GET', path)), path).to.deep.equal([403, 'FORBIDDEN']);
      for (const path of ['/files', `/files/${ids[0]}`, `/assets/${ids[0]}`])
        expect(statusAndCodeOf(await service.request('GET', path)), path).to.deep.equal([403, 'FORBIDDEN']);
    });
  });

  it('incomplete batches of PATCH and DELETE /files are rejected with INVALID_PAYLOAD', async () => {
    const id = await uploadFile();
    const patches = [
      undefined,
      {},
      { data: {} },
      { keys: [id] },
      { keys: [id], query: {}, data: {} },
      [{ title: 'x' }],
      'x',
    ];
    for (const body of patches)
      expect(statusAndCodeOf(await admin('PATCH', '/files', body)), JSON.stringify(body)).to.deep.equal([
        400,
        'INVALID_PAYLOAD',
      ]);
    for (const body of [undefined, {}, { keys: [id], query: {} }, 'x'])
      expect(statusAndCodeOf(await admin('DELETE', '/files', body)), JSON.stringify(body)).to.deep.equal([
        400,
        'INVALID_PAYLOAD',
      ]);
    const both = { keys: [id, UNKNOWN], data: { title: 'changed' } };
    expect(statusAndCodeOf(await admin('PATCH', '/files', both))).to.deep.equal([403, 'FORBIDDEN']);
    expect((await good('GET', `/files/${id}`)).title).to.equal('A');
  });

  describe('events of files', () => {
    beforeEach(() => receivedEvents.splice(0));
    const waitForEvents = async (count: number) => {
      const deadline = Date.now() + 30_000;
      while (receivedEvents.length < count && Date.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 5));
      return receivedEvents.map(({ kind, event }) => `${kind} ${event}`);
    };

    it('uploads, replacements and imports emit files.upload only', async () => {
      const { id } = await upload(['title', 'Sent'], ['file', file('a.txt')]);
      expect(await waitForEvents(1)).to.deep.equal(['action files.upload']);
      const { payload, key, collection } = (receivedEvents[0] as ReceivedEvent).meta;
      expect([key, collection]).to.deep.equal([id, 'platform_files']);
      expect(payload).to.include({ title: 'Sent', type: 'text/plain', filename_download: 'a.txt', storage: 'local' });
      await good('PATCH', `/files/${id}`, formOf(['file', file('b.txt')]));
      expect(await waitForEvents(2)).to.deep.equal(['action files.upload', 'action files.upload']);
      expect(receivedEvents[1]?.meta).to.deep.include({ key: id, collection: 'platform_files' });
      await importing({});
      expect(await waitForEvents(3)).to.deep.equal(Array(3).fill('action files.upload'));
    });

    it('writes of rows emit the events of any collection', async () => {
      const { id } = await good('POST', '/files', { type: 'text/plain' });
      expect(await waitForEvents(2)).to.deep.equal(['filter files.create', 'action files.create']);
      expect(receivedEvents[1]?.meta).to.deep.include({ key: id, collection: 'platform_files' });
      await good('PATCH', `/files/${id}`, { title: 'x' });
      expect((await waitForEvents(4)).slice(2)).to.deep.equal(['filter files.update', 'action files.update']);
      expect(receivedEvents[3]?.meta).to.deep.include({ keys: [id] });
      await good('DELETE', `/files/${id}`);
      expect((await waitForEvents(6)).slice(4)).to.deep.equal(['filter files.delete', 'action files.delete']);
      expect(receivedEvents[5]?.meta).to.deep.include({ keys: [id], payload: [id] });
    });
  });

  it('activity and revisions record every change of a file', async () => {
    const { id } = await upload(['title', 'One'], ['file', file('a.txt')]);
    await good('PATCH', `/files/${id}`, { title: 'Two' });
    await good('PATCH', `/files/${id}`, formOf(['file', file('b.txt')]));
    await good('DELETE', `/files/${id}`);
    const about = `filter[collection][_eq]=platform_files&filter[item][_eq]=${id}&sort=id`;
    const activity = await good('GET', `/activity?${about}&fields=action,user,revisions.delta,revisions.data`);
    expect(activity.map(({ action, user }: Record<string, string>) => [action, user])).to.deep.equal(
      ['create', 'update', 'update', 'delete'].map((action) => [action, me]),
    );
    const [first, second, third] = activity.map(
      (one: { revisions: { delta: object; data: object }[] }) => one.revisions[0],
    );
    expect(first.data).to.include({ id, title: 'One', filename_disk: `${id}.txt` });
    expect(second.delta).to.include({ title: 'Two' }).and.not.to.have.property('filename_disk');
    expect(third.delta.filename_disk).to.match(new RegExp(`^${id}-`));
    expect(third.data).to.include({ title: 'Two', filename_download: 'b.txt' });
  });

  it('custom fields work in forms, JSON, imports, queries and replacements', async () => {
    for (const [field, type] of [
      ['credit', 'string'],
      ['stars', 'integer'],
      ['checked', 'boolean'],
      ['extra', 'json'],
      ['taken', 'date'],
    ])
      await good('POST', '/fields/platform_files', { field, type, schema: {} });
    const fields = 'credit,stars,checked,extra,taken';
    const own: Part[] = [
      ['credit', '12'],
      ['stars', '4'],
      ['checked', 'true'],
      ['extra', '{"a":[1]}'],
      ['taken', '2024-05-06'],
    ];
    const values = { credit: '12', stars: 4, checked: true, extra: { a: [1] }, taken: '2024-05-06' };
    const row = await good('POST', `/files?fields=id,${fields}`, formOf(...own, ['file', file('a.txt')]));
    expect(row).to.deep.equal({ id: row.id, ...values });
    expect(await good('POST', `/files?fields=${fields}`, { type: 'a/b', ...values })).to.deep.equal(values);
    expect(await importing(values)).to.deep.include(values);
    expect(await good('GET', '/files?filter[stars][_eq]=4&fields=id&aggregate[count]=*')).to.deep.equal([{ count: 3 }]);
    const changed = formOf(['stars', '5'], ['file', file('b.txt')]);
    expect(await good('PATCH', `/files/${row.id}?fields=${fields}`, changed)).to.deep.equal({ ...values, stars: 5 });
    expect(
      statusAndCodeOf(await admin('POST', '/files', formOf(['stars', 'many'], ['file', file('a.txt')]))),
    ).to.deep.equal([400, 'INVALID_PAYLOAD']);
    for (const name of fields.split(',')) await good('DELETE', `/fields/platform_files/${name}`);
    expect(await good('GET', `/files/${row.id}`)).not.to.have.property('stars');
  });

  describe('files in relations', () => {
    const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
    before(async () => {
      const cover = { field: 'cover', type: 'uuid', schema: {}, meta: { special: ['file'] } };
      const gallery = { field: 'gallery', type: 'alias', meta: { special: ['files'] } };
      await good('POST', '/collections', { collection: 'posts', schema: {}, fields: [key, cover, gallery] });
      const ends = [
        { field: 'posts_id', type: 'integer', schema: {} },
        { field: 'platform_files_id', type: 'uuid', schema: {} },
      ];
      await good('POST', '/collections', { collection: 'posts_files', schema: {}, fields: [key, ...ends] });
      const relate = (collection: string, field: string, related_collection: string, meta: object) =>
        good('POST', '/relations', { collection, field, related_collection, meta, schema: { on_delete: 'SET NULL' } });
      await relate('posts', 'cover', 'platform_files', {});
      await relate('posts_files', 'posts_id', 'posts', { one_field: 'gallery', junction_field: 'platform_files_id' });
      await relate('posts_files', 'platform_files_id', 'platform_files', { junction_field: 'posts_id' });
    });

    it('related files are read with the rows that refer to them', async () => {
      const [cover, first, second] = [
        await uploadFile('cover.txt'),
        await uploadFile('first.txt'),
        await uploadFile('second.txt'),
      ];
      const gallery = [{ platform_files_id: first }, { platform_files_id: { id: second, title: 'Renamed' } }];
      const post = await good('POST', '/items/posts', { cover, gallery });
      const read = (query: string) => good('GET', `/items/posts/${post.id}?${query}`);
      expect(await read('fields=cover.title,cover.uploaded_by.email')).to.deep.equal({
        cover: { title: 'Cover', uploaded_by: { email: service.admin.email } },
      });
      const deep = encodeURIComponent(JSON.stringify({ gallery: { _sort: ['-platform_files_id.title'] } }));
      expect(await read(`fields=gallery.platform_files_id.title&deep=${deep}`)).to.deep.equal({
        gallery: [{ platform_files_id: { title: 'Renamed' } }, { platform_files_id: { title: 'First' } }],
      });
      expect(await good('GET', '/items/posts?filter[gallery][platform_files_id][title][_eq]=Renamed')).to.have.length(
        1,
      );
      const query = `{ posts_by_id(id: ${post.id}) { cover { title filesize } gallery { platform_files_id { title } } } }`;
      const { body } = await admin('POST', '/graphql', { query });
      expect(body.data.posts_by_id.cover).to.deep.equal({ title: 'Cover', filesize: '9' });
      expect(body.data.posts_by_id.gallery).to.have.length(2);

      await good('DELETE', '/files', { keys: [cover, first] });
      expect(await read('fields=cover,gallery.platform_files_id.title')).to.deep.equal({
        cover: null,
        gallery: [{ platform_files_id: null }, { platform_files_id: { title: 'Renamed' } }],
      });
      await good('PATCH', `/items/posts/${post.id}`, { gallery: [] });
      expect((await admin('GET', `/assets/${second}`)).status, 'a file outlives the rows that refer to it').to.equal(
        200,
      );
    });

    it('nested files are written by the same rules', async () => {
      const post = await good('POST', '/items/posts?fields=cover.*', {
        cover: { type: 'image/png', title: 'Nested', filename_disk: 'x.png', uploaded_by: null },
      });
      expect(post.cover).to.deep.include({ title: 'Nested', filename_disk: null, uploaded_by: me, storage: 'local' });
      expect(statusAndCodeOf(await admin('POST', '/items/posts', { cover: { title: 'No type' } }))).to.deep.equal([
        400,
        'INVALID_PAYLOAD',
      ]);
    });

    it('the avatar of a user is cleared when its file is deleted', async () => {
      const avatar = await uploadFile('me.png');
      expect(await good('PATCH', '/users/me?fields=avatar.title', { avatar })).to.deep.equal({
        avatar: { title: 'Me' },
      });
      expect(statusAndCodeOf(await admin('PATCH', '/users/me', { avatar: UNKNOWN }))).to.deep.equal([
        400,
        'INVALID_FOREIGN_KEY',
      ]);
      await good('DELETE', `/files/${avatar}`);
      expect(await good('GET', '/users/me?fields=avatar')).to.deep.equal({ avatar: null });
    });
  });

  it('permissions decide about uploads, imports, changes and deletes', async () => {
    const { ask, role } = await createTestUserAccount(service, await makeRole(service));
    const id = await uploadFile();
    const url = `http://127.0.0.1:${outside.port}/x.css`;
    const tries = (): Promise<unknown[]> =>
      Promise.all(
        [
          ask('POST', '/files', formOf(['file', file('mine.txt')])),
          ask('POST', '/files', { type: 'text/plain' }),
          ask('POST', '/files/import', { url }),
          ask('PATCH', `/files/${id}`, { title: 'x' }),
          ask('PATCH', `/files/${id}`, formOf(['file', file('mine.txt')])),
          ask('GET', '/files'),
          ask('GET', `/assets/${id}`),
        ].map((one) => one.then(({ status }) => status)),
      );
    expect(await tries()).to.deep.equal(Array(7).fill(403));
    expect((await ask('DELETE', `/files/${id}`)).status).to.equal(403);
    const grant = (action: string) => createTestPermission(service, role, { collection: 'platform_files', action });
    await grant('create');
    // A caller with create permission only gets 204 for uploads and imports, since it may not read the new rows.
    expect(await tries()).to.deep.equal([204, 204, 204, 403, 403, 403, 403]);
    await grant('update');
    await grant('read');
    expect(await tries()).to.deep.equal(Array(7).fill(200));
    await grant('delete');
    expect((await ask('DELETE', `/files/${id}`)).status).to.equal(204);
    expect((await waitUntilFilesConsistent(service.database, join(folder, 'bytes'))).objects.join()).not.to.contain(id);
  });
});
