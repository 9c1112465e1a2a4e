import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as published from '@directus/sdk';
import { expect } from 'chai';
import {
  areStoredFilesConsistent,
  readStoredFilesState,
  waitUntilFilesConsistent,
} from '../plugins/files-http/stored-files.ts';
import { type RecordingServer, startRecordingServer } from '../plugins/outbound/recording-server.ts';
import { createUserSender, type SendAsUser, statusAndCodeOf } from '../plugins/users/test-users.ts';
import { type InProcessService, startService } from '../support/service.ts';

// The types of @directus/sdk describe the system collections of Directus, not of this service.
// biome-ignore lint/suspicious/noExplicitAny: see above
type AnyJson = any;
const sdk: AnyJson = published;

const textFile = (name: string, text = name) => new File([text], name, { type: 'text/plain' });

describe('/files', () => {
  let service: InProcessService;
  let folder: string;
  let admin: SendAsUser;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-files-'));
    service = await startService({
      env: { STORAGE_LOCAL_ROOT: folder, IMPORT_IP_ALLOW_LIST: '127.0.0.1' },
    });
    admin = createUserSender(service, service.admin.token);
  });
  after(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    expect((await admin('DELETE', '/files', { query: { limit: -1 } })).status).to.equal(204);
    expect(await readStoredFilesState(service.database, folder)).to.deep.equal({
      rows: [],
      orphanEntries: 0,
      objects: [],
    });
  });
  afterEach(async () => {
    const kept = await waitUntilFilesConsistent(service.database, folder);
    expect(areStoredFilesConsistent(kept), `rows and bytes agree: ${JSON.stringify(kept)}`).to.equal(true);
  });

  const uploaded = async (...names: string[]): Promise<AnyJson[]> => {
    const form = new FormData();
    for (const name of names) form.append('file', textFile(name));
    const { status, body } = await admin('POST', '/files', form);
    expect(status, JSON.stringify(body)).to.equal(200);
    return Array.isArray(body.data) ? body.data : [body.data];
  };
  const objects = async () =>
    (await readStoredFilesState(service.database, folder)).objects.map((path) =>
      path.split('/').at(-1)?.replace('.txt', ''),
    );
  const titles = async () =>
    (await admin('GET', '/files?fields=title&sort=title')).body.data.map(({ title }: AnyJson) => title);

  it('POST /files with JSON creates a row without bytes and needs a type', async () => {
    const one = await admin('POST', '/files', { type: 'image/png', title: 'A picture', tags: ['a'] });
    expect(one.status, JSON.stringify(one.body)).to.equal(200);
    expect(one.body.data).to.deep.include({
      type: 'image/png',
      title: 'A picture',
      tags: ['a'],
      storage: 'local',
      filename_disk: null,
      filesize: null,
      uploaded_on: null,
    });
    const many = await admin('POST', '/files?fields=title', [
      { type: 'text/plain', title: '1' },
      { type: 'text/plain', title: '2' },
    ]);
    expect(many.body.data).to.deep.equal([{ title: '1' }, { title: '2' }]);
    for (const body of [{ title: 'x' }, {}, [{ type: 'a/b' }, { title: 'x' }], [], 'x', null, undefined])
      if (!Array.isArray(body) || body.length > 0)
        expect(statusAndCodeOf(await admin('POST', '/files', body)), JSON.stringify(body)).to.deep.equal([
          400,
          'INVALID_PAYLOAD',
        ]);
    expect(await titles()).to.deep.equal(['1', '2', 'A picture']);
  });

  it('PATCH /files/:id with a form gives bytes to a row without any', async () => {
    const { id } = (await admin('POST', '/files', { type: 'text/plain', title: 'later' })).body.data;
    expect((await admin('GET', `/assets/${id}`)).status).to.equal(403);
    const form = new FormData();
    form.append('file', textFile('now.txt', 'here they are'));
    const { status, body } = await admin('PATCH', `/files/${id}`, form);
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body.data).to.deep.include({ id, title: 'later', filesize: '13' });
    expect((await admin('GET', `/assets/${id}`)).body).to.equal('here they are');
  });

  it('/files supports GET, list and SEARCH like any collection', async () => {
    const [a, b] = await uploaded('a.txt', 'b.txt');
    expect((await admin('GET', `/files/${a.id}`)).body.data).to.deep.equal(a);
    expect((await admin('GET', '/files?fields=title,uploaded_by.email&sort=-title')).body.data).to.deep.equal([
      { title: 'B', uploaded_by: { email: service.admin.email } },
      { title: 'A', uploaded_by: { email: service.admin.email } },
    ]);
    const query = { filter: { filesize: { _eq: 5 }, title: { _eq: 'B' } }, fields: ['id'] };
    expect((await admin('SEARCH', '/files', { query })).body.data).to.deep.equal([{ id: b.id }]);
    expect((await admin('GET', '/files?aggregate[count]=*')).body.data).to.deep.equal([{ count: 2 }]);
    expect((await admin('GET', '/files?meta=total_count&limit=1')).body.meta).to.deep.equal({ total_count: 2 });
    expect(statusAndCodeOf(await admin('GET', '/files/11111111-1111-4111-8111-111111111111'))).to.deep.equal([
      403,
      'FORBIDDEN',
    ]);
    expect(statusAndCodeOf(await admin('GET', '/items/platform_files'))).to.deep.equal([403, 'FORBIDDEN']);
  });

  it('PATCH changes one and many files in every form of body', async () => {
    const files = await uploaded('a.txt', 'b.txt', 'c.txt');
    const [a, b, c] = files.map(({ id }) => id);
    expect((await admin('PATCH', `/files/${a}`, { title: 'one' })).body.data).to.deep.include({ id: a, title: 'one' });
    const keys = await admin('PATCH', '/files?fields=description', { keys: [a, b], data: { description: 'both' } });
    expect(keys.body.data).to.deep.equal([{ description: 'both' }, { description: 'both' }]);
    const query = { filter: { filename_download: { _eq: 'c.txt' } } };
    expect((await admin('PATCH', '/files', { query, data: { title: 'found' } })).body.data).to.have.length(1);
    const each = await admin('PATCH', '/files?fields=title', [
      { id: a, title: 'first' },
      { id: b, title: 'second' },
    ]);
    expect(each.body.data).to.deep.equal([{ title: 'first' }, { title: 'second' }]);
    expect(await titles()).to.deep.equal(['first', 'found', 'second']);
    for (const id of [a, b, c]) expect((await admin('GET', `/assets/${id}`)).status).to.equal(200);
  });

  it('platform fields are dropped from every kind of write', async () => {
    const [{ id, filename_disk, uploaded_by }] = await uploaded('a.txt');
    const claims = { filename_disk: 'x.txt', uploaded_by: null, detected_type: 'x/y' };
    for (const [path, body] of [
      [`/files/${id}`, claims],
      ['/files', { keys: [id], data: claims }],
      ['/files', { query: {}, data: claims }],
      ['/files', [{ id, ...claims }]],
    ] as const)
      expect((await admin('PATCH', path, body)).status, JSON.stringify(body)).to.equal(200);
    expect((await admin('GET', `/files/${id}`)).body.data).to.deep.include({ filename_disk, uploaded_by });
    const created = await admin('POST', '/files', { type: 'text/plain', ...claims });
    expect(created.body.data).to.deep.include({ filename_disk: null, uploaded_by });
  });

  it('every kind of DELETE answers after the objects are removed', async () => {
    const [a, b, c, d, e, f] = (await uploaded('a', 'b', 'c', 'd', 'e', 'f')).map(({ id }) => id);
    const left = async (...ids: string[]) => expect((await objects()).toSorted()).to.deep.equal(ids.toSorted());
    await left(a, b, c, d, e, f);
    expect((await admin('DELETE', `/files/${a}`)).status).to.equal(204);
    await left(b, c, d, e, f);
    expect((await admin('DELETE', '/files', [b])).status).to.equal(204);
    await left(c, d, e, f);
    expect((await admin('DELETE', '/files', { keys: [c, d] })).status).to.equal(204);
    await left(e, f);
    const query = { filter: { filename_download: { _eq: 'e' } } };
    expect((await admin('DELETE', '/files', { query })).status).to.equal(204);
    await left(f);
    // An admin may name a file that is already deleted: the others are deleted all the same.
    expect((await admin('DELETE', '/files', [f, a])).status).to.equal(204);
    await left();
    expect(statusAndCodeOf(await admin('GET', `/assets/${a}`))).to.deep.equal([403, 'FORBIDDEN']);
  });

  it('DELETE clears references, unless their rule rejects it', async () => {
    const field = (name: string) => ({
      field: name,
      type: 'uuid',
      schema: {},
      meta: { interface: 'file', special: ['file'] },
    });
    await admin('POST', '/collections', {
      collection: 'article',
      schema: {},
      fields: [{ field: 'title', type: 'string' }, field('cover'), field('contract')],
    });
    for (const [name, onDelete] of [
      ['cover', 'SET NULL'],
      ['contract', 'RESTRICT'],
    ]) {
      const relation = { collection: 'article', field: name, related_collection: 'platform_files' };
      const created = await admin('POST', '/relations', { ...relation, schema: { on_delete: onDelete } });
      expect(created.status, JSON.stringify(created.body)).to.equal(200);
    }
    const [cover, contract] = (await uploaded('cover', 'contract')).map(({ id }) => id);
    const { id } = (await admin('POST', '/items/article', { title: 'x', cover, contract })).body.data;
    expect(statusAndCodeOf(await admin('DELETE', '/files', [cover, contract]))).to.deep.equal([
      400,
      'INVALID_FOREIGN_KEY',
    ]);
    expect((await objects()).toSorted()).to.deep.equal([cover, contract].toSorted());
    expect((await admin('DELETE', `/files/${cover}`)).status).to.equal(204);
    expect(await objects()).to.deep.equal([contract]);
    expect((await admin('GET', `/items/article/${id}`)).body.data).to.deep.include({ cover: null, contract });
    await admin('DELETE', `/items/article/${id}`);
  });

  describe('files in GraphQL', () => {
    const ask = async (query: string, variables = {}) =>
      (await admin('POST', '/graphql/system', { query, variables })).body;

    it('GraphQL reads, updates and deletes files, and creates none', async () => {
      const [{ id }] = await uploaded('a.txt');
      expect(await ask('{ files { id title filesize tags uploaded_by { email } } }')).to.deep.equal({
        data: { files: [{ id, title: 'A', filesize: '5', tags: null, uploaded_by: { email: service.admin.email } }] },
      });
      expect(await ask('query ($id: ID!) { files_by_id(id: $id) { filename_download } }', { id })).to.deep.equal({
        data: { files_by_id: { filename_download: 'a.txt' } },
      });
      const update = `mutation ($id: ID!) {
        update_files_item(id: $id, data: { title: "changed", tags: ["x"] }) { title tags }
      }`;
      expect(await ask(update, { id })).to.deep.equal({
        data: { update_files_item: { title: 'changed', tags: ['x'] } },
      });
      expect(await ask('mutation ($id: ID!) { delete_files_item(id: $id) { id } }', { id })).to.deep.equal({
        data: { delete_files_item: { id } },
      });
      const gone = await waitUntilFilesConsistent(service.database, folder);
      expect(gone.objects).to.deep.equal([]);
      const { data } = await ask('{ __schema { mutationType { fields { name } } } }');
      const names = data.__schema.mutationType.fields.map(({ name }: AnyJson) => name);
      expect(names).to.include.members(['update_files_item', 'delete_files_item', 'import_file']);
      expect(names.filter((name: string) => /^create_files/.test(name))).to.deep.equal([]);
    });
  });

  describe('files in the Directus SDK', () => {
    let request: (command: AnyJson) => Promise<AnyJson>;
    let outside: RecordingServer;
    before(async () => {
      const client = sdk.createDirectus(service.url).with(sdk.staticToken(service.admin.token)).with(sdk.rest());
      request = (command) => client.request(command);
      outside = await startRecordingServer((_request, response) =>
        response.writeHead(200, { 'content-type': 'text/plain' }).end('x'),
      );
    });
    after(() => outside?.close());

    it('the SDK uploads, reads, updates, imports and deletes files', async () => {
      const form = new FormData();
      form.append('title', 'By a client');
      form.append('file', textFile('client.txt', 'from a client'));
      const created = await request(sdk.uploadFiles(form, { fields: ['id', 'title', 'filesize'] }));
      expect(created).to.deep.equal({ id: created.id, title: 'By a client', filesize: '13' });
      const two = new FormData();
      for (const name of ['1.txt', '2.txt']) two.append('file', textFile(name));
      expect(await request(sdk.uploadFiles(two))).to.have.length(2);
      const imported = await request(sdk.importFile(`http://127.0.0.1:${outside.port}/far-away.txt`));
      expect(imported).to.deep.include({ title: 'Far Away', filesize: '1' });
      expect(await request(sdk.readFile(created.id, { fields: ['title'] }))).to.deep.equal({ title: 'By a client' });
      expect(await request(sdk.readFiles({ fields: ['title'], sort: ['title'] }))).to.deep.equal(
        ['1', '2', 'By a client', 'Far Away'].map((title) => ({ title })),
      );
      expect(await request(sdk.updateFile(created.id, { title: 'Changed' }))).to.deep.include({ title: 'Changed' });
      const other = new FormData();
      other.append('file', textFile('other.txt', 'other bytes'));
      expect(await request(sdk.updateFile(created.id, other))).to.deep.include({ id: created.id, filesize: '11' });
      expect((await admin('GET', `/assets/${created.id}`)).body).to.equal('other bytes');
      const ids = (await request(sdk.readFiles({ fields: ['id'] }))).map(({ id }: AnyJson) => id);
      expect(await request(sdk.updateFiles(ids, { description: 'all' }, { fields: ['description'] }))).to.deep.equal(
        ids.map(() => ({ description: 'all' })),
      );
      const batch = sdk.updateFilesBatch([{ id: ids[0], title: 'batch' }], { fields: ['title'] });
      expect(await request(batch)).to.deep.equal([{ title: 'batch' }]);
      expect(await request(sdk.deleteFile(created.id))).to.equal(null);
      expect(await request(sdk.deleteFiles(ids.filter((id: string) => id !== created.id)))).to.equal(null);
      expect(await objects()).to.deep.equal([]);
    });
  });
});
