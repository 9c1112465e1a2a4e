import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { PUBLIC_ROLE_ID } from '../../plugins/access/contract.ts';
import {
  areStoredFilesConsistent,
  readStoredFilesState,
  waitUntilFilesConsistent,
} from '../plugins/files-http/stored-files.ts';
import {
  createTestPermission,
  createTestUserAccount,
  createUserSender,
  makeRole,
  type PermissionInput,
  type SendAsUser,
  statusAndCodeOf,
} from '../plugins/users/test-users.ts';
import { type HttpReply, type InProcessService, startService } from '../support/service.ts';

type Part = readonly [name: string, value: string | File];
const textFile = (name: string, text = name) => new File([text], name, { type: 'text/plain' });
const formOf = (...parts: readonly Part[]): FormData => {
  const form = new FormData();
  for (const [name, value] of parts) form.append(name, value as string);
  return form;
};
const grant = (action: string, more: Partial<PermissionInput> = {}): PermissionInput => ({
  collection: 'platform_files',
  action,
  ...more,
});

describe('permissions of files', () => {
  let service: InProcessService;
  let folder: string;
  let admin: SendAsUser;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-files-'));
    service = await startService({ env: { STORAGE_LOCAL_ROOT: folder } });
    admin = createUserSender(service, service.admin.token);
  });
  after(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(async () => {
    const kept = await waitUntilFilesConsistent(service.database, folder);
    expect(areStoredFilesConsistent(kept), `rows and bytes agree: ${JSON.stringify(kept)}`).to.equal(true);
  });

  const person = async (...grants: readonly PermissionInput[]) =>
    (await createTestUserAccount(service, await makeRole(service, {}, grants))).ask;
  const uploaded = async (ask: SendAsUser, ...parts: readonly Part[]) => {
    const { status, body } = await ask('POST', '/files', formOf(...parts, ['file', textFile('a.txt')]));
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.data;
  };
  const nothingOf = async (work: () => Promise<HttpReply>) => {
    const before = (await readStoredFilesState(service.database, folder)).rows;
    const reply = await work();
    expect((await readStoredFilesState(service.database, folder)).rows, 'nothing is made or changed').to.deep.equal(
      before,
    );
    return statusAndCodeOf(reply);
  };
  const row = async (id: string) => (await admin('GET', `/files/${id}`)).body.data;

  it('a role without permissions can do nothing with files', async () => {
    const ask = await person();
    const { id } = await uploaded(admin);
    const form = () => formOf(['title', 'x'], ['file', textFile('b.txt')]);
    for (const [method, path, body] of [
      ['POST', '/files', form()],
      ['POST', '/files', { type: 'text/plain' }],
      ['POST', '/files', formOf(['title', 'x'])],
      ['PATCH', `/files/${id}`, form()],
      ['PATCH', `/files/${id}`, formOf(['title', 'x'])],
      ['PATCH', `/files/${id}`, { title: 'x' }],
      ['DELETE', `/files/${id}`, undefined],
      ['GET', `/files/${id}`, undefined],
      ['GET', '/files', undefined],
    ] as const)
      expect(await nothingOf(() => ask(method, path, body)), `${method} ${path}`).to.deep.equal([403, 'FORBIDDEN']);
  });

  it('create permission alone answers 204', async () => {
    const ask = await person(grant('create'));
    const before = (await readStoredFilesState(service.database, folder)).rows.length;
    for (const files of [1, 2]) {
      const form = formOf(...Array.from({ length: files }, (_, at): Part => ['file', textFile(`${at}.txt`)]));
      const { status, body } = await ask('POST', '/files', form);
      expect([status, body]).to.deep.equal([204, undefined]);
    }
    expect((await readStoredFilesState(service.database, folder)).rows.length).to.equal(before + 3);
  });

  it("a field list of create limits the sender's fields, not those of the platform", async () => {
    const ask = await person(grant('create', { fields: ['title'] }), grant('read'));
    expect(await uploaded(ask, ['title', 'mine'])).to.deep.include({
      title: 'mine',
      filename_download: 'a.txt',
      filesize: '5',
      type: 'text/plain',
      storage: 'local',
    });
    const more = () => ask('POST', '/files', formOf(['description', 'x'], ['file', textFile('a.txt')]));
    expect(await nothingOf(more)).to.deep.equal([403, 'FORBIDDEN']);
    const second = () =>
      ask('POST', '/files', formOf(['file', textFile('a.txt')], ['description', 'x'], ['file', textFile('b.txt')]));
    expect(await nothingOf(second)).to.deep.equal([403, 'FORBIDDEN']);
  });

  it('presets and validation of create apply to uploads', async () => {
    const ask = await person(
      grant('create', {
        presets: { description: 'preset', title: 'preset' },
        validation: { _and: [{ filename_download: { _ends_with: '.txt' } }, { filesize: { _lt: 100 } }] },
      }),
      grant('read'),
    );
    expect(await uploaded(ask, ['title', 'said'])).to.deep.include({ title: 'said', description: 'preset' });
    const named = () => ask('POST', '/files', formOf(['file', textFile('a.exe')]));
    expect(await nothingOf(named)).to.deep.equal([400, 'FAILED_VALIDATION']);
    // The validation of `filesize` can fail only after the service has read the bytes.
    const long = () => ask('POST', '/files', formOf(['file', textFile('a.txt', 'x'.repeat(200))]));
    expect(await nothingOf(long)).to.deep.equal([400, 'FAILED_VALIDATION']);
  });

  it('update permission is checked by row and field, for bytes and values', async () => {
    const mine = grant('update', { permissions: { title: { _eq: 'open' } } });
    const ask = await person(mine, grant('read'));
    const open = await uploaded(admin, ['title', 'open']);
    const closed = await uploaded(admin, ['title', 'closed']);
    const bytes = (who: SendAsUser, { id }: { id: string }, ...parts: Part[]) =>
      who('PATCH', `/files/${id}`, formOf(...parts, ['file', textFile('b.txt', 'other')]));
    expect((await bytes(ask, open)).body.data).to.deep.include({
      id: open.id,
      filesize: '5',
      filename_download: 'b.txt',
    });
    expect(await nothingOf(() => bytes(ask, closed))).to.deep.equal([403, 'FORBIDDEN']);
    expect(await nothingOf(() => ask('PATCH', `/files/${closed.id}`, formOf(['description', 'x'])))).to.deep.equal([
      403,
      'FORBIDDEN',
    ]);
    expect(await row(closed.id)).to.deep.equal(closed);
    const titled = await person(grant('update', { fields: ['title'] }), grant('read'));
    expect((await titled('PATCH', `/files/${closed.id}`, formOf(['title', 'by form']))).body.data.title).to.equal(
      'by form',
    );
    expect(await nothingOf(() => bytes(titled, closed, ['title', 'x']))).to.deep.equal([403, 'FORBIDDEN']);
    expect((await row(closed.id)).title).to.equal('by form');
    const named = await person(grant('update', { fields: ['filename_download', 'type'] }));
    expect((await bytes(named, closed)).status).to.equal(204);
    expect((await row(closed.id)).filename_disk).to.not.equal(closed.filename_disk);
  });

  it('delete permission is checked by row', async () => {
    const ask = await person(grant('delete', { permissions: { title: { _eq: 'open' } } }), grant('read'));
    const open = await uploaded(admin, ['title', 'open']);
    const closed = await uploaded(admin, ['title', 'closed']);
    expect(await nothingOf(() => ask('DELETE', `/files/${closed.id}`))).to.deep.equal([403, 'FORBIDDEN']);
    expect(await nothingOf(() => ask('DELETE', '/files', [open.id, closed.id]))).to.deep.equal([403, 'FORBIDDEN']);
    expect((await ask('DELETE', `/files/${open.id}`)).status).to.equal(204);
    expect((await readStoredFilesState(service.database, folder)).rows).to.not.include(open.filename_disk);
  });

  it('read permission decides what a write answers', async () => {
    const ask = await person(
      grant('create'),
      grant('read', { fields: ['id', 'title'], permissions: { title: { _eq: 'open' } } }),
    );
    const open = await uploaded(ask, ['title', 'open']);
    expect(Object.keys(open).toSorted()).to.deep.equal(['id', 'title']);
    const hidden = await ask('POST', '/files', formOf(['title', 'closed'], ['file', textFile('a.txt')]));
    expect([hidden.status, hidden.body]).to.deep.equal([204, undefined]);
    const both = await ask(
      'POST',
      '/files?fields=title',
      formOf(['title', 'open'], ['file', textFile('1')], ['title', 'closed'], ['file', textFile('2')]),
    );
    expect(both.body.data).to.deep.equal([{ title: 'open' }]);
  });

  it('a permission may compare uploaded_by with $CURRENT_USER', async () => {
    const role = await makeRole(service, {}, [
      grant('create'),
      grant('read', { permissions: { uploaded_by: { _eq: '$CURRENT_USER' } } }),
    ]);
    const [one, other] = [await createTestUserAccount(service, role), await createTestUserAccount(service, role)];
    const { id } = await uploaded(one.ask, ['uploaded_by', other.id]);
    expect((await row(id)).uploaded_by).to.equal(one.id);
    expect((await other.ask('GET', `/files/${id}`)).status).to.equal(403);
  });

  it('permissions of the Public role apply to files', async () => {
    const askPublic = createUserSender(service, null);
    const form = () => formOf(['file', textFile('public.txt')]);
    expect(await nothingOf(() => askPublic('POST', '/files', form()))).to.deep.equal([403, 'FORBIDDEN']);
    const permission = await createTestPermission(service, PUBLIC_ROLE_ID, grant('create', { fields: ['title'] }));
    try {
      expect((await askPublic('POST', '/files', form())).status).to.equal(204);
      const [last] = await service.database.query<Record<string, unknown>>(
        "select uploaded_by, filesize from platform_files where filename_download = 'public.txt'",
      );
      expect(last).to.deep.equal({ uploaded_by: null, filesize: '10' });
      const described = () => askPublic('POST', '/files', formOf(['description', 'x'], ['file', textFile('p.txt')]));
      expect(await nothingOf(described)).to.deep.equal([403, 'FORBIDDEN']);
    } finally {
      await admin('DELETE', `/permissions/${permission}`);
    }
    expect(await nothingOf(() => askPublic('POST', '/files', form()))).to.deep.equal([403, 'FORBIDDEN']);
  });
});
