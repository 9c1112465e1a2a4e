import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { waitUntilFilesConsistent } from '../plugins/files-http/stored-files.ts';
import { type RecordingServer, startRecordingServer } from '../plugins/outbound/recording-server.ts';
import {
  createTestUserAccount,
  createUserSender,
  makeRole,
  type PermissionInput,
  type SendAsUser,
} from '../plugins/users/test-users.ts';
import { type InProcessService, startService } from '../support/service.ts';

const UNKNOWN = '11111111-1111-4111-8111-111111111111';
const FILES = 'platform_files';

describe('files in GraphQL', () => {
  let service: InProcessService;
  let folder: string;
  let outside: RecordingServer;
  let admin: SendAsUser;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-files-'));
    outside = await startRecordingServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/css' }).end('a{}'),
    );
    service = await startService({
      env: { STORAGE_LOCAL_ROOT: folder, IMPORT_IP_ALLOW_LIST: '127.0.0.1' },
    });
    admin = createUserSender(service, service.admin.token);
  });
  after(async () => {
    await outside?.close();
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    await admin('DELETE', '/files', { query: { limit: -1 } });
  });

  const askGraphql = async (ask: SendAsUser, query: string, variables: object = {}, path = '/graphql/system') => {
    const { status, body } = await ask('POST', path, { query, variables });
    return { status, ...body };
  };
  const data = async (query: string, variables?: object) => {
    const answer = await askGraphql(admin, query, variables);
    expect(answer.errors, JSON.stringify(answer.errors)).to.equal(undefined);
    return answer.data;
  };
  async function upload(...names: string[]): Promise<string[]> {
    const form = new FormData();
    for (const name of names) form.append('file', new File([name], name, { type: 'text/plain' }));
    const { data: created } = (await admin('POST', '/files', form)).body;
    return [created].flat().map(({ id }) => id);
  }
  const person = async (...grants: PermissionInput[]) =>
    (await createTestUserAccount(service, await makeRole(service, {}, grants))).ask;
  async function fieldsFor(ask: SendAsUser) {
    const query = '{ __schema { queryType { fields { name } } mutationType { fields { name } } } }';
    const { queryType, mutationType } = (await askGraphql(ask, query)).data.__schema;
    const names = [...queryType.fields, ...(mutationType?.fields ?? [])].map(({ name }: { name: string }) => name);
    return names.filter((name) => /(?:^|_)files?(?:_|$)/.test(name)).toSorted();
  }

  it('GraphQL offers every operation except create for files', async () => {
    expect(await fieldsFor(admin)).to.deep.equal([
      'delete_files_item',
      'delete_files_items',
      'files',
      'files_aggregated',
      'files_by_id',
      'import_file',
      'update_files_batch',
      'update_files_item',
      'update_files_items',
    ]);
    const { status, errors } = await askGraphql(admin, 'mutation { create_files_item(data: { type: "a/b" }) { id } }');
    expect([status, errors[0].extensions.code]).to.deep.equal([400, 'GRAPHQL_VALIDATION_EXCEPTION']);
    // /graphql serves user collections only, so it has no field `files`.
    expect((await askGraphql(admin, '{ files { id } }', {}, '/graphql')).status).to.equal(400);
  });

  it('GraphQL offers each caller only permitted operations', async () => {
    const reads = ['files', 'files_aggregated', 'files_by_id'];
    expect(await fieldsFor(createUserSender(service, null))).to.deep.equal([]);
    expect(await fieldsFor(await person({ collection: FILES, action: 'read' }))).to.deep.equal(reads);
    const deleting = await person({ collection: FILES, action: 'read' }, { collection: FILES, action: 'delete' });
    expect(await fieldsFor(deleting)).to.deep.equal(['delete_files_item', 'delete_files_items', ...reads]);
    const few = await person({ collection: FILES, action: 'read', fields: ['id', 'title'] });
    const [id] = await upload('a.txt');
    expect((await askGraphql(few, '{ files { id title } }')).data.files).to.deep.equal([{ id, title: 'A' }]);
    expect((await askGraphql(few, '{ files { filename_disk } }')).status).to.equal(400);
  });

  it('files are read with arguments, relations, functions and aggregates', async () => {
    const [first, second] = await upload('first.txt', 'second one.txt');
    const shelf = (await admin('POST', '/folders', { name: 'Shelf' })).body.data;
    await admin('PATCH', `/files/${second}`, { folder: shelf.id, tags: ['x'] });
    const query = `query ($filter: platform_files_filter) {
      files(filter: $filter, sort: ["-title"], limit: 5, page: 1, search: "one") {
        id title filesize type storage tags folder { name } uploaded_by { email } uploaded_on_func { year }
      }
    }`;
    expect(await data(query, { filter: { type: { _eq: 'text/plain' } } })).to.deep.equal({
      files: [
        {
          id: second,
          title: 'Second One',
          filesize: '14',
          type: 'text/plain',
          storage: 'local',
          tags: ['x'],
          folder: { name: 'Shelf' },
          uploaded_by: { email: service.admin.email },
          uploaded_on_func: { year: new Date().getUTCFullYear() },
        },
      ],
    });
    expect(await data('{ files(filter: { folder: { name: { _eq: "Shelf" } } }) { id } }')).to.deep.equal({
      files: [{ id: second }],
    });
    expect(await data('query ($id: ID!) { files_by_id(id: $id) { filename_disk } }', { id: first })).to.deep.equal({
      files_by_id: { filename_disk: `${first}.txt` },
    });
    const missing = await askGraphql(admin, `{ files_by_id(id: "${UNKNOWN}") { id } }`);
    expect([missing.status, missing.data, missing.errors[0].extensions.code]).to.deep.equal([
      200,
      { files_by_id: null },
      'FORBIDDEN',
    ]);
    const sums =
      '{ files_aggregated(groupBy: ["type"]) { group countAll count { id } sum { filesize } max { filesize } } }';
    expect(await data(sums)).to.deep.equal({
      files_aggregated: [
        { group: { type: 'text/plain' }, countAll: 2, count: { id: 2 }, sum: { filesize: 23 }, max: { filesize: 14 } },
      ],
    });
  });

  it('files are updated one by one and in batches, and platform fields stay', async () => {
    const [first, second] = (await upload('a.txt', 'b.txt')) as [string, string];
    const one = `mutation ($id: ID!, $data: update_platform_files_input!) {
      update_files_item(id: $id, data: $data) { title tags filename_disk uploaded_by { email } modified_by { email } }
    }`;
    const changes = { title: 'New', tags: ['x'], filename_disk: 'elsewhere', uploaded_by: null };
    expect(await data(one, { id: first, data: changes })).to.deep.equal({
      update_files_item: {
        title: 'New',
        tags: ['x'],
        filename_disk: `${first}.txt`,
        uploaded_by: { email: service.admin.email },
        modified_by: { email: service.admin.email },
      },
    });
    const many =
      'mutation ($ids: [ID]!) { update_files_items(ids: $ids, data: { description: "both" }) { description } }';
    expect((await data(many, { ids: [first, second] })).update_files_items).to.deep.equal([
      { description: 'both' },
      { description: 'both' },
    ]);
    const batch = 'mutation ($data: [update_platform_files_input!]) { update_files_batch(data: $data) { id title } }';
    const rows = [
      { id: first, title: '1' },
      { id: second, title: '2' },
    ];
    expect((await data(batch, { data: rows })).update_files_batch).to.deep.equal(rows);
    const moved = await askGraphql(admin, one, { id: first, data: { storage: 'elsewhere' } });
    expect(moved.errors[0].extensions.code).to.equal('INVALID_PAYLOAD');
    const missingFile = await askGraphql(admin, one, { id: UNKNOWN, data: { title: 'x' } });
    expect(missingFile.errors[0].extensions.code).to.equal('FORBIDDEN');
  });

  it('delete mutations remove files with their objects', async () => {
    const ids = await upload('a.txt', 'b.txt', 'c.txt');
    const [first, ...others] = ids;
    expect(await data('mutation ($id: ID!) { delete_files_item(id: $id) { id } }', { id: first })).to.deep.equal({
      delete_files_item: { id: first },
    });
    expect((await admin('GET', `/assets/${first}`)).status).to.equal(403);
    expect(
      await data('mutation ($ids: [ID]!) { delete_files_items(ids: $ids) { ids } }', { ids: others }),
    ).to.deep.equal({
      delete_files_items: { ids: others },
    });
    expect(await waitUntilFilesConsistent(service.database, folder)).to.deep.equal({
      rows: [],
      orphanEntries: 0,
      objects: [],
    });
  });

  it('import_file creates a file from a URL', async () => {
    const query =
      'mutation ($url: String!, $data: JSON) { import_file(url: $url, data: $data) { title type filesize } }';
    const url = `http://127.0.0.1:${outside.port}/a-style.css`;
    expect(await data(query, { url })).to.deep.equal({
      import_file: { title: 'A Style', type: 'text/css', filesize: '3' },
    });
    expect((await data(query, { url, data: { title: 'Mine', filename_disk: 'x' } })).import_file.title).to.equal(
      'Mine',
    );
    for (const [wrong, code] of [
      ['http://127.0.0.2/', 'SERVICE_UNAVAILABLE'],
      ['http://169.254.169.254/', 'SERVICE_UNAVAILABLE'],
      ['nowhere', 'INVALID_PAYLOAD'],
    ]) {
      const { status, errors } = await askGraphql(admin, query, { url: wrong });
      expect([status, errors[0].extensions.code], wrong).to.deep.equal([200, code]);
    }
  });

  it('user collections reach files through relations at /graphql', async () => {
    const fields = [
      { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } },
      { field: 'cover', type: 'uuid', schema: {}, meta: { special: ['file'] } },
    ];
    await admin('POST', '/collections', { collection: 'books', schema: {}, fields });
    await admin('POST', '/relations', { collection: 'books', field: 'cover', related_collection: FILES });
    const [id] = await upload('cover.txt');
    const { body } = await admin('POST', '/items/books', { cover: id });
    const query = '{ books(filter: { cover: { title: { _eq: "Cover" } } }) { id cover { id title } } }';
    const found = async (ask: SendAsUser) => askGraphql(ask, query, {}, '/graphql');
    expect((await found(admin)).data).to.deep.equal({
      books: [{ id: String(body.data.id), cover: { id, title: 'Cover' } }],
    });
    const blind = await person({ collection: 'books', action: 'read' });
    expect((await found(blind)).status, 'a branch that leads nowhere is not there').to.equal(400);
    await data('mutation ($id: ID!) { delete_files_item(id: $id) { id } }', { id });
    expect((await askGraphql(admin, '{ books { cover { id } } }', {}, '/graphql')).data.books).to.deep.equal([
      { cover: null },
    ]);
  });

  it('GraphQL has no fields for assets and uploads', async () => {
    const query = '{ __schema { queryType { fields { name } } mutationType { fields { name } } } }';
    for (const path of ['/graphql', '/graphql/system']) {
      const { queryType, mutationType } = (await askGraphql(admin, query, {}, path)).data.__schema;
      for (const { name } of [...queryType.fields, ...(mutationType?.fields ?? [])])
        expect(name).not.to.match(/asset|upload|tus/i);
    }
  });
});
