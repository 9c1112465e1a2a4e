import { expect } from 'chai';
import { PUBLIC_ROLE_ID } from '../../plugins/access/contract.ts';
import {
  createTusStorageFolder,
  createTusUpload,
  readStoredFile,
  renderUploadMetadata,
  sendTusRequest,
  startTusUpload,
  type TusStorageFolder,
  uploadIdOfUrl,
} from '../plugins/tus/tus-client.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { createUserWithPermissions, requestAsAdmin, type TestUserWithToken } from './test-users.ts';

describe('tus: permissions', () => {
  let here: TusStorageFolder;
  let service: InProcessService;
  let writer: TestUserWithToken;
  let other: TestUserWithToken;
  let reader: TestUserWithToken;
  before(async function () {
    this.timeout(120_000);
    here = await createTusStorageFolder();
    service = await startService({ env: here.env });
    writer = await createUserWithPermissions(service, [{ collection: 'platform_files', action: 'create' }]);
    other = await createUserWithPermissions(service, [{ collection: 'platform_files', action: 'create' }]);
    reader = await createUserWithPermissions(service, [{ collection: 'platform_files', action: 'read' }]);
  });
  after(async () => {
    await service?.stop();
    await here?.remove();
  });

  const patch = (path: string, token: string | undefined, body: Uint8Array, offset = 0) =>
    sendTusRequest(service, 'PATCH', path, { token, body, headers: { 'Upload-Offset': String(offset) } }).reply;
  const uploads = async () => (await service.database.query('select from platform_uploads')).length;
  const create = (token: string | undefined, metadata: Record<string, string>) =>
    sendTusRequest(service, 'POST', '/files/tus', {
      token,
      headers: { 'Upload-Length': '3', 'Upload-Metadata': renderUploadMetadata(metadata) },
    }).reply;

  it('an upload needs create permission, checked before anything is stored', async () => {
    const { id } = await startTusUpload(service, Buffer.from('abc'), { token: writer.token }).finished;
    expect((await readStoredFile(service, here, id))?.row.uploaded_by).to.equal(writer.id);
    const before = await uploads();
    for (const token of [reader.token, undefined]) {
      const refused = await create(token, { filename: 'a' });
      expect([refused.status, refused.body.errors[0].extensions.code]).to.deep.equal([403, 'FORBIDDEN']);
    }
    expect(await uploads()).to.equal(before);
  });

  it('an upload that replaces a file needs update permission', async () => {
    const { id } = await startTusUpload(service, Buffer.from('abc'), { token: service.admin.token }).finished;
    const refused = await create(writer.token, { id });
    expect([refused.status, refused.body.errors[0].extensions.code]).to.deep.equal([403, 'FORBIDDEN']);
    const editor = await createUserWithPermissions(service, [
      { collection: 'platform_files', action: 'update', permissions: { id: { _eq: id } } },
    ]);
    await startTusUpload(service, Buffer.from('other'), { token: editor.token, metadata: { id } }).finished;
    expect((await readStoredFile(service, here, id))?.bytes.toString()).to.equal('other');
    expect((await create(editor.token, { filename: 'new' })).status).to.equal(403);
  });

  it('fields in Upload-Metadata need permission', async () => {
    const narrow = await createUserWithPermissions(service, [
      { collection: 'platform_files', action: 'create', fields: ['title'] },
    ]);
    const refused = await create(narrow.token, { filename: 'a', description: 'x' });
    expect([refused.status, refused.body.errors[0].extensions.code]).to.deep.equal([403, 'FORBIDDEN']);
    expect((await create(narrow.token, { filename: 'a', title: 'x' })).status).to.equal(201);
  });

  it('only its user and admins may continue an upload; others get 403', async () => {
    const path = await createTusUpload(service, 3, { token: writer.token });
    const nowhere = '/files/tus/7f1f4b6e-0000-4000-8000-000000000000';
    for (const token of [other.token, reader.token, undefined]) {
      for (const method of ['HEAD', 'PATCH', 'DELETE']) {
        const headers = { 'Upload-Offset': '0' };
        const body = method === 'PATCH' ? Buffer.from('abc') : undefined;
        const askUpload = async (at: string) => {
          const {
            status,
            body: answer,
            headers: replyHeaders,
          } = await sendTusRequest(service, method, at, { token, headers, body }).reply;
          const { date: _, 'x-request-id': __, ...rest } = replyHeaders;
          return { status, answer, rest };
        };
        const refused = await askUpload(path);
        expect(refused.status).to.equal(403);
        expect(refused).to.deep.equal(await askUpload(nowhere));
      }
    }
    expect((await sendTusRequest(service, 'HEAD', path, { token: service.admin.token }).reply).status).to.equal(200);
    expect((await patch(path, writer.token, Buffer.from('ab'))).status).to.equal(204);
    expect((await patch(path, service.admin.token, Buffer.from('c'), 2)).status).to.equal(204);
    expect((await readStoredFile(service, here, uploadIdOfUrl(path)))?.bytes.toString()).to.equal('abc');
  });

  it('an upload begun without signing in is continued by every caller that knows its URL', async () => {
    const permission = await requestAsAdmin(service, 'POST', '/permissions', {
      role: PUBLIC_ROLE_ID,
      collection: 'platform_files',
      action: 'create',
      fields: ['*'],
    });
    try {
      const path = await createTusUpload(service, 3);
      expect((await patch(path, undefined, Buffer.from('ab'))).status).to.equal(204);
      expect((await patch(path, undefined, Buffer.from('c'), 2)).status).to.equal(204);
      const file = await readStoredFile(service, here, uploadIdOfUrl(path));
      expect([file?.bytes.toString(), file?.row.uploaded_by]).to.deep.equal(['abc', null]);
    } finally {
      await requestAsAdmin(service, 'DELETE', `/permissions/${permission.id}`);
    }
  });

  it('create permission is checked again with the last byte, and a restored permission completes the upload', async () => {
    const person = await createUserWithPermissions(service, [{ collection: 'platform_files', action: 'create' }]);
    const path = await createTusUpload(service, 3, { token: person.token });
    const [permission] = await requestAsAdmin(service, 'GET', `/permissions?filter[role][_eq]=${person.role}`);
    // The permission is removed during this request. The service keeps the bytes that it allowed when the request began.
    const { request, reply } = sendTusRequest(service, 'PATCH', path, {
      token: person.token,
      body: 'open',
      headers: { 'Upload-Offset': '0', 'Content-Length': '3' },
    });
    request.write('ab');
    await until(async () => (await here.objects()).some((name) => name.startsWith(`${uploadIdOfUrl(path)}.part-`)));
    await requestAsAdmin(service, 'PATCH', `/permissions/${permission.id}`, { action: 'read' });
    request.end('c');
    const refused = await reply;
    expect([refused.status, refused.body.errors[0].extensions.code]).to.deep.equal([403, 'FORBIDDEN']);
    expect(await readStoredFile(service, here, uploadIdOfUrl(path))).to.equal(undefined);
    expect((await sendTusRequest(service, 'HEAD', path, { token: person.token }).reply).status).to.equal(403);
    await requestAsAdmin(service, 'PATCH', `/permissions/${permission.id}`, { action: 'create' });
    expect(
      (await sendTusRequest(service, 'HEAD', path, { token: person.token }).reply).headers['upload-offset'],
    ).to.equal('3');
    expect((await readStoredFile(service, here, uploadIdOfUrl(path)))?.bytes.toString()).to.equal('abc');
  });
});
