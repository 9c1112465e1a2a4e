import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { PUBLIC_ROLE_ID } from '../../plugins/access/contract.ts';
import { recordStatementsDuring } from '../support/capture-sql-statements.ts';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type HttpReply, type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type AssetStorageFixture, createAssetStorageFixture } from './asset-storage-fixture.ts';
import { createUserWithPermissions, requestAsAdmin, type TestUserWithToken } from './test-users.ts';

const FILES = 'platform_files';

describe('permissions of assets', () => {
  let ground: AssetStorageFixture;
  let database: FreshDatabase;
  let here: InProcessService;
  let there: InProcessService;

  before(async function () {
    this.timeout(120_000);
    ground = await createAssetStorageFixture();
    database = await createMigratedDatabase('assets_permissions');
    here = await startService({ database, env: ground.env });
    there = await startService({ database, env: ground.env });
  });
  after(async () => {
    await Promise.all([here?.stop(), there?.stop()]);
    await database?.drop();
    await ground?.remove();
  });

  const get = (id: string, token?: string | null, service = here): Promise<HttpReply> =>
    service.request('GET', `/assets/${id}`, { token });
  const status = async (id: string, token?: string | null, service = here) => (await get(id, token, service)).status;
  const fileOf = (text: string, columns?: Record<string, unknown>) => ground.file(database, text, columns);

  it('admins and roles with read permission may fetch a file', async () => {
    const id = await fileOf('hello');
    const reader = await createUserWithPermissions(here, [{ collection: FILES, action: 'read' }]);
    const writer = await createUserWithPermissions(here, [{ collection: FILES, action: 'update' }]);
    expect((await get(id, here.admin.token)).body).to.equal('hello');
    expect((await get(id, reader.token)).body).to.equal('hello');
    expect((await get(id.toUpperCase(), reader.token)).body).to.equal('hello');
    expect([await status(id, writer.token), await status(id)]).to.deep.equal([403, 403]);
  });

  it('read permission on any field allows the bytes, on no field it does not', async () => {
    const id = await fileOf('hello');
    const title = await createUserWithPermissions(here, [{ collection: FILES, action: 'read', fields: ['title'] }]);
    const none = await createUserWithPermissions(here, [{ collection: FILES, action: 'read', fields: [] }]);
    expect([await status(id, title.token), await status(id, none.token)]).to.deep.equal([200, 403]);
    const ruled = {
      collection: FILES,
      action: 'read',
      fields: ['title'],
      permissions: { title: { _eq: 'mine' } },
    } as const;
    const some = await createUserWithPermissions(here, [ruled]);
    const mine = await fileOf('mine', { title: 'mine' });
    expect([await status(mine, some.token), await status(id, some.token)]).to.deep.equal([200, 403]);
  });

  it('the row rule of a permission applies, with $CURRENT_USER and relations', async () => {
    const own: TestUserWithToken = await createUserWithPermissions(here, [
      { collection: FILES, action: 'read', permissions: { uploaded_by: { _eq: '$CURRENT_USER' } } },
    ]);
    const folder = (await requestAsAdmin(here, 'POST', '/folders', { name: 'open to all' })).id;
    const byFolder = await createUserWithPermissions(here, [
      { collection: FILES, action: 'read', permissions: { folder: { name: { _contains: 'open' } } } },
    ]);
    const mine = await fileOf('mine', { uploaded_by: own.id });
    const filed = await fileOf('filed', { folder });
    expect([await status(mine, own.token), await status(filed, own.token)]).to.deep.equal([200, 403]);
    expect([await status(mine, byFolder.token), await status(filed, byFolder.token)]).to.deep.equal([403, 200]);
    // The row rule is checked against the current rows, also when the service has cached the record of the file.
    await requestAsAdmin(here, 'PATCH', `/folders/${folder}`, { name: 'closed' });
    expect([await status(filed, byFolder.token), await status(filed, here.admin.token)]).to.deep.equal([403, 200]);
  });

  it('every denied request gets the same response', async () => {
    const reader = await createUserWithPermissions(here, [
      { collection: FILES, action: 'read', permissions: { title: { _eq: 'mine' } } },
    ]);
    const hidden = await fileOf('hidden');
    const alone = await ground.file(database, null, { title: 'mine' });
    const lost = await fileOf('lost', { title: 'mine' });
    await rm(join(ground.root, `${lost}.bin`));
    const shape = ({ status: number, body, headers }: HttpReply) => {
      const left = Object.fromEntries(headers);
      for (const name of ['x-request-id', 'date']) delete left[name];
      return { number, body, left };
    };
    const unknown = shape(await get(randomUUID(), reader.token));
    expect(unknown.number).to.equal(403);
    expect(unknown.body.errors[0].extensions).to.deep.equal({ code: 'FORBIDDEN' });
    for (const id of [hidden, alone, lost, 'nonsense', `${hidden}x`, '%20', "'"]) {
      expect(shape(await get(id, reader.token)), id).to.deep.equal(unknown);
      expect(shape(await here.request('GET', `/assets/${id}?width=100`, { token: reader.token })), id).to.deep.equal(
        unknown,
      );
    }
    for (const id of [alone, lost]) expect(shape(await get(id, here.admin.token)), id).to.deep.equal(unknown);
    // An invalid query gets the same response, so that it does not show whether the file exists.
    const wrong = await here.request('GET', `/assets/${hidden}?key=nonsense`, { token: reader.token });
    expect(shape(wrong)).to.deep.equal(unknown);
  });

  it('files of the sign-in page are public', async () => {
    const names = ['project_logo', 'public_foreground', 'public_background', 'public_favicon'];
    for (const name of names) {
      const id = await fileOf(name);
      const withoutPermissions = await createUserWithPermissions(here, []);
      expect(await status(id), name).to.equal(403);
      await requestAsAdmin(here, 'PATCH', '/settings', { [name]: id });
      for (const service of [here, there]) {
        await until(async () => (await status(id, null, service)) === 200);
        const { headers, body } = await get(id, null, service);
        expect([headers.get('cache-control'), body]).to.deep.equal(['public, max-age=2592000', name]);
      }
      expect(await status(id, withoutPermissions.token), name).to.equal(200);
      await requestAsAdmin(here, 'PATCH', '/settings', { [name]: null });
      expect(await status(id), name).to.equal(403);
      await until(async () => (await status(id, null, there)) === 403);
    }
  });

  it('files are public while the Public role may read them', async () => {
    const id = await fileOf('hello');
    const grant = await requestAsAdmin(here, 'POST', '/permissions', {
      role: PUBLIC_ROLE_ID,
      collection: FILES,
      action: 'read',
      fields: ['*'],
    });
    const open = await get(id);
    expect([open.body, open.headers.get('cache-control')]).to.deep.equal(['hello', 'public, max-age=2592000']);
    expect(open.headers.get('vary')).to.equal('Origin, Cache-Control');
    const signed = await get(id, here.admin.token);
    expect(signed.headers.get('cache-control')).to.equal('private, max-age=2592000');
    expect(signed.headers.get('vary')).to.equal('Origin, Cache-Control, Authorization, Cookie');
    expect(signed.headers.get('cross-origin-resource-policy')).to.equal(null);
    await until(async () => (await status(id, null, there)) === 200);
    await requestAsAdmin(here, 'DELETE', `/permissions/${grant.id}`);
    expect(await status(id)).to.equal(403);
    await until(async () => (await status(id, null, there)) === 403);
  });

  it('a token in the URL works, and an invalid one is an error', async () => {
    const id = await fileOf('hello');
    const reader = await createUserWithPermissions(here, [{ collection: FILES, action: 'read' }]);
    const { status: found, headers } = await get(`${id}?access_token=${reader.token}`);
    expect([found, headers.get('cache-control')]).to.deep.equal([200, 'private, max-age=2592000']);
    expect(await status(`${id}?access_token=wrong`)).to.equal(401);
  });

  it('a change of a file is visible in every process at once', async () => {
    const id = await fileOf('one', { type: 'text/plain' });
    const typeAt = async (service: InProcessService) =>
      (await get(id, here.admin.token, service)).headers.get('content-type');
    for (const service of [here, there]) expect(await typeAt(service)).to.equal('text/plain');
    await database.query(`update platform_files set type = 'text/css' where id = $1`, [id]);
    for (const service of [here, there]) await until(async () => (await typeAt(service)) === 'text/css');
    await database.query('delete from platform_files where id = $1', [id]);
    for (const service of [here, there]) await until(async () => (await status(id, here.admin.token, service)) === 403);
  });

  it('a replacement in another process is served before its notification arrives', async () => {
    const id = await fileOf('bytes 0');
    await get(id, there.admin.token, there);
    // Each object is requested once after it is written, so the service cannot serve it from memory.
    for (let time = 1, before = `${id}.bin`; time <= 30; time++) {
      const name = `${id}-${time}.bin`;
      await writeFile(join(ground.root, name), `bytes ${time}`);
      await database.query('update platform_files set filename_disk = $2 where id = $1', [id, name]);
      // The janitor may have found the object, which nothing refers to any more.
      await rm(join(ground.root, before), { force: true });
      const { status: found, body } = await get(id, there.admin.token, there);
      expect([found, body]).to.deep.equal([200, `bytes ${time}`]);
      before = name;
    }
  });

  it('an asset whose record is cached needs no statement, or one where a row rule applies', async () => {
    const id = await fileOf('hello');
    // The reader signs in, since checking an access token needs no statement.
    const email = 'reader@example.com';
    const role = (await requestAsAdmin(here, 'POST', '/roles', { name: 'ruled', app_access: false })).id;
    const rule = {
      collection: FILES,
      action: 'read',
      fields: ['*'],
      permissions: { filename_download: { _eq: 'file.bin' } },
    };
    await requestAsAdmin(here, 'POST', '/permissions', { role, ...rule });
    await requestAsAdmin(here, 'POST', '/users', { email, password: 'a good password', role });
    const signed = await here.request('POST', '/auth/login', { body: { email, password: 'a good password' } });
    const ruled = signed.body.data.access_token as string;
    for (const token of [here.admin.token, ruled]) {
      await get(id, token);
      await get(id, token);
    }
    expect(await recordStatementsDuring(() => get(id, here.admin.token))).to.deep.equal([]);
    const sent = await recordStatementsDuring(() => get(id, ruled));
    expect(sent).to.have.length(1);
    expect(sent[0]).to.contain('"platform_files" t where t.id = $1');
  });
});
