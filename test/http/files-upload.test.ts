import { execFile } from 'node:child_process';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { connectRawHttpClient } from '../plugins/files-http/raw-client.ts';
import {
  areStoredFilesConsistent,
  readStoredFilesState,
  waitUntilFilesConsistent,
} from '../plugins/files-http/stored-files.ts';
import {
  createTestUserAccount,
  createUserSender,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
} from '../plugins/users/test-users.ts';
import { type HttpReply, type InProcessService, startService } from '../support/service.ts';

const run = promisify(execFile);
const MIB = 1024 ** 2;
const LINE = '\r\n';

type Part = readonly [name: string, value: string | File];

const formOf = (...parts: readonly Part[]): FormData => {
  const form = new FormData();
  for (const [name, value] of parts) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, value, value.name);
  }
  return form;
};
const file = (name: string, text = name, type = 'text/plain') => new File([text], name, { type });
const handMade = (...parts: readonly (readonly [headers: string, text: string])[]) =>
  `${parts.map(([headers, text]) => `--b${LINE}${headers}${LINE}${LINE}${text}${LINE}`).join('')}--b--${LINE}`;
const FORM = { 'content-type': 'multipart/form-data; boundary=b' };

describe('uploads by POST and PATCH /files', () => {
  let service: InProcessService;
  let folder: string;
  let admin: SendAsUser;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-files-'));
    service = await startService({
      env: { STORAGE_LOCAL_ROOT: folder, FILES_MAX_UPLOAD_SIZE: '5mb' },
    });
    admin = createUserSender(service, service.admin.token);
    for (const field of [
      { field: 'is_public', type: 'boolean' },
      { field: 'extra', type: 'json' },
      { field: 'rating', type: 'integer' },
      { field: 'shot_on', type: 'date' },
      { field: 'words', type: 'csv' },
    ])
      expect((await admin('POST', '/fields/platform_files', field)).status).to.equal(200);
  });
  after(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(async () => {
    const kept = await waitUntilFilesConsistent(service.database, folder);
    expect(areStoredFilesConsistent(kept), `rows and bytes agree: ${JSON.stringify(kept)}`).to.equal(true);
  });

  const upload = (...parts: readonly Part[]) => admin('POST', '/files', formOf(...parts));
  const count = async () => (await readStoredFilesState(service.database, folder)).rows.length;
  /** Runs a request, and expects that it leaves no file row. */
  const nothingOf = async (work: () => Promise<HttpReply>): Promise<HttpReply> => {
    const before = await count();
    const reply = await work();
    expect(await count(), 'files that are kept').to.equal(before);
    return reply;
  };
  const bytesOf = async (id: string) => (await admin('GET', `/assets/${id}`)).body;

  it('a form creates a file with the fields before it', async () => {
    const { status, body } = await upload(
      ['description', 'Ein Bild für Ünal'],
      ['tags', '["a","b"]'],
      ['file', file('b-c_d.txt', 'hello')],
      ['description', 'too late'],
      ['title', 'too late'],
    );
    expect(status, JSON.stringify(body)).to.equal(200);
    const { id } = body.data;
    expect(body.data).to.deep.include({
      title: 'B C D',
      description: 'Ein Bild für Ünal',
      tags: ['a', 'b'],
      filename_download: 'b-c_d.txt',
      filename_disk: `${id}.txt`,
      type: 'text/plain',
      filesize: '5',
      storage: 'local',
      folder: null,
    });
    const [me] = await service.database.query<{ id: string }>('select id from platform_users');
    expect(body.data.uploaded_by).to.equal(me?.id);
    expect(body.data.uploaded_on).to.be.a('string');
    expect(await bytesOf(id)).to.equal('hello');
  });

  it('a form with several files creates each with the fields right before it', async () => {
    const { status, body } = await upload(
      ['title', 'One'],
      ['description', 'of the first'],
      ['file', file('1.txt')],
      ['title', 'Two'],
      ['file', file('2.txt')],
      ['anything', file('3-x.txt')],
    );
    expect(status, JSON.stringify(body)).to.equal(200);
    const values = body.data.map(({ title, description, filename_download }: Record<string, unknown>) => [
      title,
      description,
      filename_download,
    ]);
    expect(values).to.deep.equal([
      ['One', 'of the first', '1.txt'],
      ['Two', null, '2.txt'],
      ['3 X', null, '3-x.txt'],
    ]);
    for (const { id, filename_download } of body.data) expect(await bytesOf(id)).to.equal(filename_download);
  });

  it('texts of a form are converted by the types of their fields', async () => {
    const stored = async (...parts: readonly Part[]) => {
      const { status, body } = await upload(...parts, ['file', file('a.txt')]);
      expect(status, JSON.stringify(body)).to.equal(200);
      return body.data;
    };
    expect(
      await stored(['is_public', 'true'], ['rating', '7'], ['extra', '{"a":[1,null]}'], ['shot_on', '2026-01-31']),
    ).to.deep.include({ is_public: true, rating: 7, extra: { a: [1, null] }, shot_on: '2026-01-31' });
    expect(
      await stored(['is_public', 'false'], ['rating', 'null'], ['extra', 'a text'], ['description', 'null']),
    ).to.deep.include({ is_public: false, rating: null, extra: 'a text', description: null });
    expect(await stored(['title', 'true'], ['description', '[1]'], ['extra', '12'])).to.deep.include({
      title: 'true',
      description: '[1]',
      extra: 12,
    });
    expect(await stored(['tags', 'red, green ,,blue'], ['words', 'x,y'])).to.deep.include({
      tags: ['red', 'green', 'blue'],
      words: ['x', 'y'],
    });
    expect(await stored(['folder', ''], ['rating', ''], ['tags', ''], ['description', ''])).to.deep.include({
      folder: null,
      rating: null,
      tags: null,
      description: '',
    });
    const nested = await stored(['folder', '{"name":"made with a file"}']);
    expect((await admin('GET', `/folders/${nested.folder}`)).body.data.name).to.equal('made with a file');
  });

  it('an upload answers the requested fields and checks them before it reads the body', async () => {
    const shaped = await admin('POST', '/files?fields=title,uploaded_by.email', formOf(['file', file('shape.txt')]));
    expect(shaped.body.data).to.deep.equal({ title: 'Shape', uploaded_by: { email: service.admin.email } });
    const wrong = await nothingOf(() => admin('POST', '/files?deep=nonsense', formOf(['file', file('a.txt')])));
    expect(statusAndCodeOf(wrong)).to.deep.equal([400, 'INVALID_QUERY']);
  });

  it('an upload drops platform fields', async () => {
    const { body } = await upload(
      ['filename_disk', '../../evil'],
      ['uploaded_by', '11111111-1111-4111-8111-111111111111'],
      ['detected_type', 'x/y'],
      ['file', file('a.txt')],
    );
    expect(body.data.filename_disk).to.equal(`${body.data.id}.txt`);
    expect(body.data.uploaded_by).to.not.equal('11111111-1111-4111-8111-111111111111');
  });

  it('an upload cleans the file name and derives a title', async () => {
    const name = async (filename: string) => {
      const body = handMade([`Content-Disposition: form-data; name="file"; filename="${filename}"`, 'x']);
      const reply = await admin('POST', '/files', Buffer.from(body), { headers: FORM });
      expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
      return [reply.body.data.filename_download, reply.body.data.title];
    };
    expect(await name('../../etc/pass wd.txt')).to.deep.equal(['pass wd.txt', 'Pass Wd']);
    expect(await name('C:\\temp\\my_file.TXT')).to.deep.equal(['my_file.TXT', 'My File']);
    expect(await name('日本語.txt')).to.deep.equal(['日本語.txt', '日本語']);
  });

  it('a form without a file is rejected with INVALID_PAYLOAD', async () => {
    const cases: readonly (readonly [string, FormData | string, Record<string, string>?])[] = [
      ['no part', handMade()],
      ['no file', formOf(['title', 'x'])],
      ['no name', handMade(['Content-Disposition: form-data; name="file"; filename=""', 'x'])],
      [
        'no name but a type',
        handMade([`Content-Disposition: form-data; name="file"${LINE}Content-Type: image/png`, 'x']),
      ],
      ['no end', handMade(['Content-Disposition: form-data; name="file"; filename="a"', 'x']).slice(0, -6)],
      ['nothing', ''],
      ['no boundary', 'x', { 'content-type': 'multipart/form-data' }],
      ['a field that is not there', formOf(['nothing', 'x'], ['file', file('a.txt')])],
      ['a field with a dangerous name', formOf(['__proto__', '{"a":1}'], ['file', file('a.txt')])],
      ['no JSON', formOf(['tags', '[1'], ['file', file('a.txt')])],
      ['a folder that is not there', formOf(['folder', '11111111-1111-4111-8111-111111111111'], ['file', file('a')])],
      ['a storage that is not there', formOf(['storage', 'elsewhere'], ['file', file('a.txt')])],
    ];
    for (const [what, body, headers = FORM] of cases) {
      const options = body instanceof FormData ? {} : { headers };
      const reply = await nothingOf(() => admin('POST', '/files', body, options));
      expect(reply.status, `${what}: ${JSON.stringify(reply.body)}`).to.equal(400);
    }
    expect(({} as { a?: number }).a).to.equal(undefined);
    const mixed = await admin('POST', '/files', handMade(), {
      headers: { 'content-type': 'multipart/mixed; boundary=b' },
    });
    expect(statusAndCodeOf(mixed)).to.deep.equal([415, 'UNSUPPORTED_MEDIA_TYPE']);
    const encoded = await admin('POST', '/files', 'a=1', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(statusAndCodeOf(encoded)).to.deep.equal([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  it('a form with several files keeps all of them or none', async () => {
    const first: Part = ['file', file('first.txt')];
    const failing: readonly (readonly Part[])[] = [
      [first, ['folder', '11111111-1111-4111-8111-111111111111'], ['file', file('second.txt')]],
      [first, ['file', file('second.txt')], ['unknown', 'x'], ['file', file('third.txt')]],
      [first, ['file', file('second.bin', 'x'.repeat(6 * MIB))]],
    ];
    const codes: unknown[] = [];
    for (const parts of failing) {
      const { status, body } = await nothingOf(() => upload(...parts));
      const { code, file: at, filename } = body.errors[0].extensions;
      codes.push([status, code, at, filename]);
    }
    expect(codes).to.deep.equal([
      [400, 'INVALID_FOREIGN_KEY', 2, 'second.txt'],
      [400, 'INVALID_PAYLOAD', 3, 'third.txt'],
      [413, 'CONTENT_TOO_LARGE', 2, 'second.bin'],
    ]);
    const twice = handMade(
      ['Content-Disposition: form-data; name="file"; filename="a.txt"', 'one'],
      ['Content-Disposition: form-data; name="file"; filename="b.txt"', 'two'],
    );
    for (const end of [twice.length - 6, twice.length - 12, twice.lastIndexOf('filename')]) {
      const cut = await nothingOf(() => admin('POST', '/files', twice.slice(0, end), { headers: FORM }));
      expect(statusAndCodeOf(cut)).to.deep.equal([400, 'INVALID_PAYLOAD']);
    }
  });

  it('a form sent in chunks of any size is stored unchanged', async () => {
    const body = Buffer.from(
      handMade(
        ['Content-Disposition: form-data; name="title"', 'In pieces'],
        [
          'Content-Disposition: form-data; name="file"; filename="p.bin"',
          `a${LINE}--${LINE}--bb`.replace('--bb', '--a'),
        ],
      ),
    );
    for (const size of [1, 7, body.length - 1]) {
      const client = await connectRawHttpClient(service.url);
      const head = ['POST /files HTTP/1.1', 'host: x', `authorization: Bearer ${service.admin.token}`];
      await client.write(
        [...head, `content-type: ${FORM['content-type']}`, 'transfer-encoding: chunked', '', ''].join(LINE),
      );
      for (let at = 0; at < body.length; at += size) {
        const piece = body.subarray(at, at + size);
        await client.write(Buffer.concat([Buffer.from(piece.length.toString(16) + LINE), piece, Buffer.from(LINE)]));
      }
      await client.write(`0${LINE}${LINE}`);
      const answer = await client.answers();
      expect(answer).to.match(/^HTTP\/1\.1 200/);
      const { title, id } = JSON.parse(answer.slice(answer.indexOf('{'))).data;
      expect([title, await bytesOf(id)]).to.deep.equal(['In pieces', `a${LINE}--${LINE}--a`]);
      client.close();
    }
  });

  it('a client that disconnects leaves nothing', async () => {
    const before = await count();
    const whole = handMade(['Content-Disposition: form-data; name="file"; filename="p.bin"', 'x'.repeat(300_000)]);
    for (const sent of [100, 200_000, whole.length - 4]) {
      const client = await connectRawHttpClient(service.url);
      const head = ['POST /files HTTP/1.1', 'host: x', `authorization: Bearer ${service.admin.token}`];
      await client.write(
        [...head, `content-type: ${FORM['content-type']}`, `content-length: ${whole.length}`, '', ''].join(LINE),
      );
      await client.write(whole.slice(0, sent));
      // Waits until the service has begun to write the object.
      while ((await readStoredFilesState(service.database, folder)).orphanEntries === 0)
        await new Promise((resolve) => setImmediate(resolve));
      client.socket.destroy();
    }
    await waitUntilFilesConsistent(service.database, folder);
    expect(await count()).to.equal(before);
  });

  describe('an upload rejected before its end', () => {
    let askWithoutPermissions: SendAsUser;
    let token: string;
    before(async () => {
      const person = await createTestUserAccount(service, await makeRole(service));
      askWithoutPermissions = person.ask;
      token = person.token;
    });

    const large = (size: number) => formOf(['file', file('large.bin', 'x'.repeat(size))]);

    it('a client that reads while it sends gets the error', async () => {
      expect(statusAndCodeOf(await askWithoutPermissions('POST', '/files', large(40 * MIB)))).to.deep.equal([
        403,
        'FORBIDDEN',
      ]);
      expect(statusAndCodeOf(await admin('POST', '/files', large(40 * MIB)))).to.deep.equal([413, 'CONTENT_TOO_LARGE']);
    });

    it('a client that sends everything first gets the error, and its connection is closed', async () => {
      for (const [who, status] of [
        [token, 403],
        [service.admin.token, 413],
      ] as const) {
        const client = await connectRawHttpClient(service.url);
        const size = 20 * MIB;
        const start = `--b${LINE}Content-Disposition: form-data; name="file"; filename="a"${LINE}${LINE}`;
        const end = `${LINE}--b--${LINE}`;
        const head = ['POST /files HTTP/1.1', 'host: x', `authorization: Bearer ${who}`];
        const length = start.length + size + end.length;
        await client.write(
          [...head, `content-type: ${FORM['content-type']}`, `content-length: ${length}`, '', start].join(LINE),
        );
        for (let at = 0; at < size; at += MIB) await client.write('x'.repeat(MIB));
        await client.write(end);
        const answer = await client.answers(2);
        expect(answer).to.match(new RegExp(`^HTTP/1\\.1 ${status}`));
        expect(answer).to.match(/^connection: close\r$/im);
      }
    });

    it('curl gets the error', async () => {
      const path = join(folder, '..', `curl-${process.pid}.bin`);
      await writeFile(path, '');
      await truncate(path, 30 * MIB);
      const curl = async (who: string) => {
        const args = ['-sS', '-w', '\n%{http_code}', '-H', `Authorization: Bearer ${who}`, '-F', `file=@${path}`];
        const { stdout } = await run('curl', [...args, `${service.url}/files`]);
        const [text = '', status] = stdout.split('\n');
        return [status, JSON.parse(text).errors?.[0].extensions.code];
      };
      try {
        expect(await curl(token)).to.deep.equal(['403', 'FORBIDDEN']);
        expect(await curl(service.admin.token)).to.deep.equal(['413', 'CONTENT_TOO_LARGE']);
        await truncate(path, 4 * MIB);
        expect(await curl(service.admin.token)).to.deep.equal(['200', undefined]);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      } finally {
        await rm(path, { force: true });
      }
    });

    it('no body is read from a caller who may not create files', async () => {
      const client = await connectRawHttpClient(service.url);
      const head = ['POST /files HTTP/1.1', 'host: x', `authorization: Bearer ${token}`];
      // Sends only the head: the answer must not wait for the body.
      await client.write([...head, `content-type: ${FORM['content-type']}`, 'content-length: 1000', '', ''].join(LINE));
      expect(await client.answers()).to.match(/^HTTP\/1\.1 403/);
      client.close();
    });
  });

  describe('PATCH /files/:id with a form', () => {
    const change = (id: string, ...parts: readonly Part[]) => admin('PATCH', `/files/${id}`, formOf(...parts));
    const uploadFile = async (name = 'old.txt') =>
      (await upload(['description', 'stays'], ['file', file(name)])).body.data;

    it('a replacement keeps the id and all fields that are not sent', async () => {
      const old = await uploadFile();
      const { status, body } = await change(
        old.id,
        ['tags', 'new'],
        ['file', file('new.json', '{"new":true}', 'application/json')],
        ['title', 'too late'],
      );
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body.data).to.deep.include({
        id: old.id,
        description: 'stays',
        tags: ['new'],
        type: 'application/json',
        filename_download: 'new.json',
        filesize: '12',
        title: old.title,
      });
      expect(body.data.filename_disk).to.match(new RegExp(`^${old.id}-[0-9a-f]{8}\\.json$`));
      expect(await bytesOf(old.id)).to.deep.equal({ new: true });
      const { objects } = await readStoredFilesState(service.database, folder);
      expect(objects.some((name) => name.endsWith(old.filename_disk))).to.equal(false);
    });

    it('a form without a file changes values only', async () => {
      const old = await uploadFile();
      const { status, body } = await change(old.id, ['title', 'Said anew'], ['tags', 'a,b']);
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body.data).to.deep.include({ title: 'Said anew', tags: ['a', 'b'], filename_disk: old.filename_disk });
      expect(await bytesOf(old.id)).to.equal('old.txt');
    });

    it('a rejected replacement changes nothing', async () => {
      const old = await uploadFile();
      const refusals = [
        await change(old.id, ['file', file('a.txt')], ['file', file('b.txt')]),
        await change(old.id, ['unknown', 'x'], ['file', file('a.txt')]),
        await change(old.id, ['file', file('a.bin', 'x'.repeat(6 * MIB))]),
        await admin(
          'PATCH',
          `/files/${old.id}`,
          handMade(['Content-Disposition: form-data; name="file"; filename="a"', 'x']).slice(0, -6),
          { headers: FORM },
        ),
      ];
      expect(refusals.map(({ status }) => status)).to.deep.equal([400, 400, 413, 400]);
      const { data } = (await admin('GET', `/files/${old.id}`)).body;
      expect({ ...data, modified_on: '' }).to.deep.equal({ ...old, modified_on: '' });
      expect(await bytesOf(old.id)).to.equal('old.txt');
    });

    it('a replacement of a missing file is FORBIDDEN', async () => {
      for (const id of ['11111111-1111-4111-8111-111111111111', 'nonsense', 'import'])
        for (const parts of [[['file', file('a.txt')]], [['title', 'x']]] as const)
          expect(statusAndCodeOf(await change(id, ...parts)), id).to.deep.equal([403, 'FORBIDDEN']);
    });
  });
});
