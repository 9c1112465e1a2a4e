import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import {
  createPackageFolder,
  createPackageJson,
  ENDPOINT_MANIFEST,
  type PackageFolder,
} from '../plugins/extensions/package-folder.ts';
import { clientLibrary as client, createAdminClient, type Untyped } from '../support/client-library.ts';
import { type InProcessService, startService } from '../support/service.ts';

// Every command of the published client library, against the service. `client-library.test.ts` and its siblings look at the answers; this
// table says which commands there are, and which the service does not have.

/** Commands without a counterpart, with the reason. */
const ABSENT: Readonly<Record<string, string>> = {
  ContentVersion: 'there are no content versions',
  Deployment: 'deployments are a service of the library’s vendor',
  Polic: 'permissions belong to roles',
  Registry: 'packages are put into a folder, or installed by npm',
};

/** Exports that are no commands. */
const TOOLS = new Set([
  ...['auth', 'authentication', 'createDirectus', 'customEndpoint', 'formatFields', 'generateUid', 'getAuthEndpoint'],
  ...['graphql', 'isDirectusError', 'memoryStorage', 'messageCallback', 'pong', 'queryToParams', 'realtime', 'rest'],
  ...['sleep', 'staticToken', 'throwIfCoreCollection', 'throwIfEmpty', 'withOptions', 'withSearch', 'withToken'],
]);

type Run = (name: string, ...args: readonly unknown[]) => Promise<Untyped>;

describe('commands of the client library', function () {
  this.timeout(180_000);
  let service: InProcessService;
  let outside: Server;
  let place: PackageFolder;
  const results = new Map<string, string>();

  before(async () => {
    outside = createServer((_request, response) => response.end('bytes')).listen(0, '127.0.0.1');
    await new Promise((resolve) => outside.once('listening', resolve));
    place = await createPackageFolder({
      'service-extension-quiet/package.json': createPackageJson('service-extension-quiet', ENDPOINT_MANIFEST),
      'service-extension-quiet/dist/index.js': 'export default () => {};',
    });
    service = await startService({
      env: {
        EXTENSIONS_PATH: place.path,
        EMAIL_TRANSPORT: 'log',
        IMPORT_IP_ALLOW_LIST: '127.0.0.1',
        PUBLIC_URL: 'http://localhost',
        PASSWORD_RESET_URL_ALLOW_LIST: 'http://localhost',
        USER_INVITE_URL_ALLOW_LIST: 'http://localhost',
      },
    });
  });
  after(async () => {
    for (const [name, result] of [...results].toSorted(([a], [b]) => a.localeCompare(b)))
      process.stdout.write(`      ${name.padEnd(32)} ${result}\n`);
    outside?.close();
    await service?.stop();
    await place?.remove();
  });

  /** Runs a command as the admin and notes that it passed. */
  const run: Run = async (name, ...args) => {
    const answer = await createAdminClient(service)(client[name](...args)).catch((error: Untyped) => {
      const text = error?.errors ? JSON.stringify(error.errors[0]) : String(error);
      expect.fail(`${name} failed: ${text}`);
    });
    results.set(name, 'passes');
    return answer;
  };

  /** Runs the nine commands of a system collection: one and many, create, read, update and delete. */
  async function runAll(noun: string, make: () => object, change: object, plural = `${noun}s`): Promise<void> {
    const one = await run(`create${noun}`, make());
    const many = await run(`create${plural}`, [make(), make()]);
    const keys = [one, ...many].map(({ id }) => id);
    expect((await run(`read${noun}`, keys[0])).id).to.equal(keys[0]);
    expect(await run(`read${plural}`, { limit: -1 })).to.have.length.above(2);
    await run(`update${noun}`, keys[0], change);
    await run(`update${plural}`, keys.slice(1), change);
    if (client[`update${plural}Batch`]) await run(`update${plural}Batch`, [{ id: keys[0], ...change }]);
    await run(`delete${noun}`, keys[0]);
    await run(`delete${plural}`, keys.slice(1));
  }

  it('of collections, fields, relations and items', async () => {
    const fields = [{ field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } }];
    for (const collection of ['pages', 'parts', 'site'])
      await run('createCollection', { collection, schema: {}, meta: { singleton: collection === 'site' }, fields });
    await run('readCollections');
    await run('readCollection', 'pages');
    await run('updateCollection', 'pages', { meta: { note: 'a' } });
    await run('updateCollectionsBatch', [{ collection: 'pages', meta: { sort_field: 'sort' } }]);
    for (const [collection, field, type] of [
      ['pages', 'title', 'string'],
      ['pages', 'sort', 'integer'],
      ['parts', 'page', 'integer'],
      ['site', 'title', 'string'],
    ])
      await run('createField', collection, { field, type });
    await run('readFields');
    await run('readFieldsByCollection', 'pages');
    await run('readField', 'pages', 'title');
    await run('updateField', 'pages', 'title', { meta: { note: 'a' } });
    await run('updateFields', 'pages', [{ field: 'title', meta: { note: 'b' } }]);
    await run('createRelation', { collection: 'parts', field: 'page', related_collection: 'pages' });
    await run('readRelations');
    await run('readRelationByCollection', 'parts');
    await run('readRelation', 'parts', 'page');
    await run('updateRelation', 'parts', 'page', { meta: { one_deselect_action: 'nullify' } });
    const { id } = await run('createItem', 'pages', { title: 'a', sort: 1 });
    const [second, third] = await run('createItems', 'pages', [
      { title: 'b', sort: 2 },
      { title: 'c', sort: 3 },
    ]);
    await run('readItem', 'pages', id);
    expect(await run('readItems', 'pages', { sort: ['-id'] })).to.have.length(3);
    await run('updateItem', 'pages', id, { title: 'd' });
    await run('updateItems', 'pages', [id, second.id], { title: 'e' });
    await run('updateItemsBatch', 'pages', [{ id, title: 'f' }]);
    expect(await run('aggregate', 'pages', { aggregate: { count: '*' } })).to.be.an('array');
    await run('utilitySort', 'pages', third.id, id);
    expect((await run('readItems', 'pages', { sort: ['sort'] }))[0].id).to.equal(third.id);
    await run('updateSingleton', 'site', { title: 'a' });
    expect((await run('readSingleton', 'site')).title).to.equal('a');
    await run('readItemPermissions', 'pages', id);
    await run('readUserPermissions');
    await run('deleteItem', 'pages', id);
    await run('deleteItems', 'pages', [second.id]);
    await run('deleteRelation', 'parts', 'page');
    await run('deleteField', 'parts', 'page');
    await run('deleteCollection', 'parts');
  });

  it('of system collections', async () => {
    const me = await run('readMe');
    const role = (await run('readRoles'))[0].id;
    await run('readRole', role);
    await run('readRolesMe');
    await run('updateMe', { title: 'Dr.' });
    const page = await run('createItem', 'pages', { title: 'x' });
    const comment = { collection: 'pages', item: String(page.id), comment: 'a' };
    await runAll('Comment', () => comment, { comment: 'b' });
    await runAll('Dashboard', () => ({ name: 'a' }), { name: 'b' });
    const dashboard = (await run('createDashboard', { name: 'c' })).id;
    const panel = { dashboard, type: 'label', position_x: 1, position_y: 1, width: 2, height: 2 };
    await runAll('Panel', () => panel, { name: 'b' });
    await runAll('Flow', () => ({ name: 'a', trigger: 'manual' }), { name: 'b' });
    const flow = (await run('createFlow', { name: 'c', trigger: 'webhook', options: { method: 'POST' } })).id;
    const step = () => ({ flow, key: randomUUID(), type: 'log', position_x: 1, position_y: 1 });
    await runAll('Operation', step, { name: 'b' });
    await run('triggerFlow', 'POST', flow, {});
    await runAll('Folder', () => ({ name: randomUUID() }), { parent: null });
    await runAll('Notification', () => ({ recipient: me.id, subject: 'a' }), { status: 'archived' });
    const actions = ['create', 'read', 'update'];
    await runAll('Permission', () => ({ role, collection: 'pages', action: actions.pop() }), { fields: ['*'] });
    await runAll('Preset', () => ({ collection: 'pages' }), { layout: 'cards' });
    await runAll('Role', () => ({ name: randomUUID() }), { description: 'b' });
    await runAll('Share', () => ({ collection: 'pages', item: String(page.id) }), { name: 'b' });
    const translation = () => ({ language: 'en-US', key: randomUUID(), value: 'a' });
    await runAll('Translation', translation, { value: 'b' });
    await runAll('User', () => ({ email: `${randomUUID()}@example.com` }), { title: 'b' });
    await run('readSettings');
    await run('updateSettings', { project_name: 'Tenon' });
    const [activity] = await run('readActivities');
    await run('readActivity', activity.id);
    const [revision] = await run('readRevisions');
    await run('readRevision', revision.id);
  });

  it('of files', async () => {
    const form = new FormData();
    form.set('file', new Blob(['bytes'], { type: 'application/octet-stream' }), 'a.bin');
    const { id } = await run('uploadFiles', form);
    const url = `http://127.0.0.1:${(outside.address() as AddressInfo).port}/a.txt`;
    const imported = await run('importFile', url);
    await run('readFile', id);
    await run('readFiles');
    await run('updateFile', id, { title: 'b' });
    await run('updateFiles', [id], { title: 'c' });
    await run('updateFilesBatch', [{ id, title: 'd' }]);
    await run('readAssetRaw', id);
    await run('readAssetBlob', id);
    await run('readAssetArrayBuffer', id);
    const folder = (await run('createFolder', { name: randomUUID() })).id;
    await run('downloadFilesZip', [id]);
    await run('downloadFolderZip', folder);
    await run('deleteFile', id);
    await run('deleteFiles', [imported.id]);
  });

  it('of the server and of utilities', async () => {
    expect(await run('serverPing')).to.equal('pong');
    await run('serverHealth');
    await run('serverInfo');
    expect((await run('readOpenApiSpec')).openapi).to.match(/^3\./);
    expect(await run('readGraphqlSdl', 'item')).to.include('type Query');
    expect(await run('readGraphqlSdl', 'system')).to.include('type Query');
    expect(await run('randomString', 7)).to.have.length(7);
    await run('clearCache');
    const form = new FormData();
    form.set('file', new Blob(['[{"title":"imported"}]'], { type: 'application/json' }), 'pages.json');
    await run('utilsImport', 'pages', form);
    expect(await run('readItems', 'pages', { filter: { title: { _eq: 'imported' } } })).to.have.length(1);
    await run('utilsExport', 'pages', 'json', {}, {});
    const snapshot = await run('schemaSnapshot');
    expect(await run('schemaDiff', snapshot)).to.equal(null);
    const fields = snapshot.fields.filter(({ field }: Untyped) => field !== 'sort');
    const diff = await run('schemaDiff', { ...snapshot, fields });
    await run('schemaApply', diff);
    const [extension] = await run('readExtensions');
    expect((await run('updateExtension', extension.id, { meta: { enabled: false } })).meta.enabled).to.equal(false);
    await run('deleteExtension', extension.id);
    await run('readProviders');
  });

  it('of accounts', async () => {
    await run('inviteUser', 'ann@example.com', (await run('createRole', { name: 'a' })).id, 'http://localhost');
    await run('passwordRequest', 'ann@example.com', 'http://localhost');
    await run('updateSettings', { public_registration: true });
    await run('registerUser', 'bob@example.com', 'a long password', {});
    const { id: item } = await run('createItem', 'pages', { title: 'shared' });
    const share = await run('createShare', { collection: 'pages', item: String(item) });
    await run('readShareInfo', share.id);
    await run('authenticateShare', share.id, undefined, 'json');
    await run('inviteShare', share.id, ['ann@example.com']);
    for (const name of ['login', 'refresh', 'logout', 'acceptUserInvite', 'passwordReset', 'registerUserVerify'])
      results.set(name, 'passes (client-accounts.test.ts)');
    for (const name of ['generateTwoFactorSecret', 'enableTwoFactor', 'disableTwoFactor'])
      results.set(name, 'passes (client-accounts.test.ts)');
  });

  it('without a counterpart are refused as unknown routes', async () => {
    const names = Object.keys(client).filter((name) => Object.keys(ABSENT).some((part) => name.includes(part)));
    expect(names).to.have.length.above(30);
    for (const name of names) {
      const command = client[name];
      const keys = name.startsWith('delete') && name.endsWith('s') ? [randomUUID()] : randomUUID();
      const isList = name.startsWith('read') && name.endsWith('s');
      const args = isList ? [{}] : name.startsWith('create') ? [{ name: 'a' }] : [keys, {}];
      const error = await createAdminClient(service)(command(...args)).then(
        () => expect.fail(`${name} was answered`),
        (reason: Untyped) => reason,
      );
      // Some commands of deployments take objects that this call does not have, and fail before they send.
      if (error.response) expect(error.errors[0].extensions.code, name).to.be.oneOf(['ROUTE_NOT_FOUND', 'FORBIDDEN']);
      const [, why] = Object.entries(ABSENT).find(([part]) => name.includes(part)) as [string, string];
      results.set(name, `absent: ${why}`);
    }
  });

  it('are all in this table', () => {
    results.set('utilsImportBatch', 'absent: one collection at a time');
    const missing = Object.keys(client).filter((name) => !TOOLS.has(name) && !results.has(name));
    expect(missing).to.deep.equal([]);
  });
});
