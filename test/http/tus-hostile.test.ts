import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { connectRawHttpClient } from '../plugins/files-http/raw-client.ts';
import {
  createTusStorageFolder,
  readStoredFile,
  renderUploadMetadata,
  type TusStorageFolder,
  uploadIdOfUrl,
} from '../plugins/tus/tus-client.ts';
import { type HttpReply, type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin, type TestUserWithToken } from './test-users.ts';

const FILES = 'platform_files';
const LINE = '\r\n';
const codeOf = ({ body }: HttpReply): string | undefined => body?.errors?.[0]?.extensions.code;

describe('hostile requests to tus uploads', () => {
  let here: TusStorageFolder;
  let service: InProcessService;
  let person: TestUserWithToken;
  let otherUser: TestUserWithToken;
  before(async () => {
    here = await createTusStorageFolder({ FILES_MAX_UPLOAD_SIZE: '1000', STREAM_STALL_TIMEOUT: '3s' });
    service = await startService({ env: here.env });
    person = await createUserWithPermissions(service, [{ collection: FILES, action: 'create' }]);
    otherUser = await createUserWithPermissions(service, [
      { collection: FILES, action: 'create' },
      { collection: FILES, action: 'update', permissions: { uploaded_by: { _eq: '$CURRENT_USER' } } },
    ]);
  });
  after(async () => {
    await service?.stop();
    await here?.remove();
  });

  const ask = (
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: Buffer,
    token: string | null = person.token,
  ) =>
    service.request(method, path, {
      token,
      headers: { 'tus-resumable': '1.0.0', 'content-type': 'application/offset+octet-stream', ...headers },
      ...(body ? { body } : {}),
    });
  const begin = async (headers: Record<string, string> = {}, token = person.token): Promise<string> => {
    const named = { 'upload-length': '6', 'upload-metadata': renderUploadMetadata({ filename: 'a.txt' }), ...headers };
    const reply = await ask('POST', '/files/tus', named, undefined, token);
    expect(reply.status, JSON.stringify(reply.body)).to.equal(201);
    return reply.headers.get('location') as string;
  };
  const patch = (path: string, text: string, offset = 0, token = person.token) =>
    ask('PATCH', path, { 'upload-offset': String(offset) }, Buffer.from(text), token);
  const offsetOf = async (path: string) => (await ask('HEAD', path)).headers.get('upload-offset');
  const uploads = async () => (await service.database.query('select from platform_uploads')).length;

  it("another user's upload and a missing one get the same response to every request", async () => {
    const path = await begin();
    const others = [
      `/files/tus/${randomUUID()}`,
      '/files/tus/..%2F..%2Fetc',
      '/files/tus/__proto__',
      path.toUpperCase(),
    ];
    others[3] = `/files/tus/${uploadIdOfUrl(path).toUpperCase()}`;
    for (const method of ['HEAD', 'PATCH', 'DELETE']) {
      for (const one of [path, ...others]) {
        const body = method === 'PATCH' ? Buffer.from('stolen') : undefined;
        for (const token of [otherUser.token, null]) {
          const reply = await ask(method, one, { 'upload-offset': '0' }, body, token);
          expect([method, one, reply.status]).to.deep.equal([method, one, 403]);
        }
      }
    }
    for (const name of ['x-http-method-override', 'x-http-method', 'x-method-override'])
      expect((await ask('POST', path, { [name]: 'DELETE' }, undefined, otherUser.token)).status).to.equal(405);
    expect(await offsetOf(path)).to.equal('0');
  });

  it('a caller that lost create permission cannot send bytes', async () => {
    const revoked = await createUserWithPermissions(service, [{ collection: FILES, action: 'create' }]);
    const path = await begin({}, revoked.token);
    expect((await patch(path, 'ab', 0, revoked.token)).status).to.equal(204);
    const [permission] = await requestAsAdmin(service, 'GET', `/permissions?filter[role][_eq]=${revoked.role}`);
    await requestAsAdmin(service, 'DELETE', `/permissions/${permission.id}`);
    const refused = await patch(path, 'cd', 2, revoked.token);
    expect([refused.status, codeOf(refused)]).to.deep.equal([403, 'FORBIDDEN']);
    const head = await ask('HEAD', path, {}, undefined, revoked.token);
    expect(head.headers.get('upload-offset')).to.equal('2');
    expect((await ask('DELETE', path, {}, undefined, revoked.token)).status).to.equal(204);
    expect((await here.objects()).filter((name) => name.startsWith(uploadIdOfUrl(path)))).to.deep.equal([]);
  });

  it('an upload cannot replace a file without update permission, nor one created with its id', async () => {
    const form = new FormData();
    form.append('file', new File(['not yours'], 'a.txt', { type: 'text/plain' }));
    const reply = await service.request('POST', '/files', { token: service.admin.token, body: form });
    const id = reply.body.data.id as string;
    for (const one of [id, id.toUpperCase(), randomUUID()]) {
      const headers = { 'upload-length': '6', 'upload-metadata': renderUploadMetadata({ filename: 'a.txt', id: one }) };
      expect((await ask('POST', '/files/tus', headers, undefined, otherUser.token)).status).to.equal(403);
    }
    expect((await readStoredFile(service, here, id))?.bytes.toString()).to.equal('not yours');

    for (const bytes of [undefined, 'others']) {
      const path = await begin();
      const form = new FormData();
      form.append('id', uploadIdOfUrl(path));
      form.append('file', new File([bytes ?? ''], 'b.txt', { type: 'text/plain' }));
      const body = bytes === undefined ? { id: uploadIdOfUrl(path), type: 'text/plain' } : form;
      await service.request('POST', '/files', { token: otherUser.token, body });
      const answer = await patch(path, 'abcdef');
      expect([bytes, answer.status, codeOf(answer)]).to.deep.equal([bytes, 400, 'RECORD_NOT_UNIQUE']);
      const [row] = await service.database.query<{ uploaded_by: string }>(
        'select uploaded_by from platform_files where id = $1',
        [uploadIdOfUrl(path)],
      );
      expect(row?.uploaded_by).to.equal(otherUser.id);
    }
  });

  it('Upload-Metadata cannot set fields without permission', async () => {
    const form = {
      filename: '../../evil\r\nX-Evil: 1.sh',
      filetype: 'text/html\r\nX-Evil: 1',
      filename_disk: 'victim.txt',
      detected_type: 'x/y',
      uploaded_by: randomUUID(),
    };
    const proto = { 'upload-length': '6', 'upload-metadata': `filename YQ==,__proto__ ${btoa('{"polluted":true}')}` };
    expect((await ask('POST', '/files/tus', proto)).status).to.equal(400);
    const path = await begin({ 'upload-metadata': renderUploadMetadata(form) });
    expect((await patch(path, 'abcdef')).status).to.equal(204);
    const row = (await readStoredFile(service, here, uploadIdOfUrl(path)))?.row;
    expect(row).to.include({ uploaded_by: person.id, filename_download: 'evilX-Evil: 1.sh', detected_type: null });
    expect(row?.filename_disk).to.match(new RegExp(`^${uploadIdOfUrl(path)}(?:-[0-9a-f]{8})?\\.sh$`));
    expect(({} as Record<string, unknown>).polluted).to.equal(undefined);
    const served = await service.request('GET', `/assets/${uploadIdOfUrl(path)}`, { token: service.admin.token });
    expect([served.headers.get('x-evil'), served.headers.get('content-disposition')?.includes('\r')]).to.deep.equal([
      null,
      false,
    ]);
  });

  it('invalid lengths, offsets and metadata are rejected', async () => {
    const before = await uploads();
    const lengths = [
      '-1',
      '1e2',
      '0x10',
      '1001',
      '9'.repeat(30),
      '9007199254740993',
      'abc',
      '5.5',
      '+5',
      '',
      'NaN',
      'Infinity',
    ];
    for (const length of lengths)
      expect([length, (await ask('POST', '/files/tus', { 'upload-length': length })).status]).to.satisfy(
        ([, status]: unknown[]) => status === 400 || status === 413,
      );
    const metadata = [
      ...[
        'filename !!!',
        'filename  YQ==',
        'filename YQ==,filename Yg==',
        ',,,',
        ' YQ==',
        'filen\u00e4me YQ==',
        'constructor eA==',
      ],
      renderUploadMetadata({ filename: 'a\0b' }),
      renderUploadMetadata({ filename: 'a', storage: '../..' }),
      renderUploadMetadata({ filename: 'a', storage: '__proto__' }),
      renderUploadMetadata({ filename: 'a', id: '../../x' }),
      renderUploadMetadata({ filename: 'a', tags: '['.repeat(5000) }),
    ];
    for (const one of metadata) {
      const reply = await ask('POST', '/files/tus', { 'upload-length': '6', 'upload-metadata': one });
      expect([one.slice(0, 60), reply.status]).to.deep.equal([one.slice(0, 60), 400]);
    }
    for (const concat of ['partial', `final;/files/tus/${randomUUID()}`])
      expect((await ask('POST', '/files/tus', { 'upload-length': '6', 'upload-concat': concat })).status).to.equal(400);
    expect(await uploads()).to.equal(before);
    const path = await begin();
    for (const offset of ['-1', '1', '1e0', '0x0', '', '9'.repeat(20)]) {
      const reply = await ask('PATCH', path, { 'upload-offset': offset }, Buffer.from('abc'));
      expect([offset, reply.status]).to.satisfy(([, status]: unknown[]) => status === 400 || status === 409);
    }
    expect((await patch(path, 'more than six')).status).to.equal(413);
    expect(await offsetOf(path)).to.equal('0');
  });

  it('a client that sends nothing is disconnected, and its bytes are kept', async () => {
    const path = await begin();
    const client = await connectRawHttpClient(service.url);
    const began = performance.now();
    await client.write(
      `PATCH ${path} HTTP/1.1${LINE}Host: x${LINE}Authorization: Bearer ${person.token}${LINE}Tus-Resumable: 1.0.0${LINE}` +
        `Upload-Offset: 0${LINE}Content-Type: application/offset+octet-stream${LINE}Content-Length: 6${LINE}${LINE}abc`,
    );
    await client.answers();
    client.close();
    expect(performance.now() - began).to.be.within(2900, 40_000);
    // The disconnected request has released the lock of the upload by now.
    expect(await offsetOf(path)).to.equal('3');
    expect((await patch(path, 'def', 3)).status).to.equal(204);
    expect((await readStoredFile(service, here, uploadIdOfUrl(path)))?.bytes.toString()).to.equal('abcdef');
  });
});
