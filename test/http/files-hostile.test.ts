import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import { connectRawHttpClient, type RawHttpClient } from '../plugins/files-http/raw-client.ts';
import {
  areStoredFilesConsistent,
  readStoredFilesState,
  waitUntilFilesConsistent,
} from '../plugins/files-http/stored-files.ts';
import { type RecordingServer, startRecordingServer } from '../plugins/outbound/recording-server.ts';
import { type HttpReply, type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin, type TestUserWithToken } from './test-users.ts';

const FILES = 'platform_files';
const LINE = '\r\n';
const OWN = { uploaded_by: { _eq: '$CURRENT_USER' } };

const part = (headers: string, text: string): string => `--b${LINE}${headers}${LINE}${LINE}${text}${LINE}`;
const field = (name: string, text: string): string => part(`Content-Disposition: form-data; name="${name}"`, text);
const file = (text = 'x', more = '; filename="a.txt"'): string =>
  part(`Content-Disposition: form-data; name="file"${more}${LINE}Content-Type: text/plain`, text);
const END = `--b--${LINE}`;

describe('hostile requests to files', () => {
  let folder: string;
  let service: InProcessService;
  let outside: RecordingServer;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-files-'));
    outside = await startRecordingServer((_request, response) => {
      response.writeHead(200, {
        'content-type': 'text/plain',
        'content-disposition': 'attachment; filename="../../evil.sh"',
      });
      response.end('from outside');
    });
    service = await startService({
      env: {
        STORAGE_LOCATIONS: 'local,second',
        STORAGE_LOCAL_ROOT: join(folder, 'local'),
        STORAGE_SECOND_ROOT: join(folder, 'second'),
        FILES_MAX_UPLOAD_SIZE: '1mb',
        IMPORT_IP_ALLOW_LIST: '127.0.0.1',
      },
    });
    const key = { field: 'id', type: 'integer', schema: { has_auto_increment: true, is_primary_key: true } };
    const fields = [key, { field: 'title', type: 'string' }, { field: 'image', type: 'uuid' }];
    await requestAsAdmin(service, 'POST', '/collections', { collection: 'articles', schema: {}, fields });
    await requestAsAdmin(service, 'POST', '/relations', {
      collection: 'articles',
      field: 'image',
      related_collection: FILES,
    });
    await requestAsAdmin(service, 'POST', `/fields/${FILES}`, { field: 'parent', type: 'uuid' });
    const meta = { one_field: 'children' };
    const alias = { field: 'children', type: 'alias', meta: { special: ['o2m'] } };
    await requestAsAdmin(service, 'POST', `/fields/${FILES}`, alias);
    await requestAsAdmin(service, 'POST', '/relations', {
      collection: FILES,
      field: 'parent',
      related_collection: FILES,
      meta,
    });
  });
  after(async () => {
    await service?.stop();
    await outside?.close();
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(async () => {
    const kept = await waitUntilFilesConsistent(service.database, folder);
    expect(areStoredFilesConsistent(kept), `rows and bytes agree: ${JSON.stringify(kept)}`).to.equal(true);
  });

  const upload = (token: string, text = 'bytes', fields: Record<string, string> = {}, id?: string) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append('file', new File([text], 'a.txt', { type: 'text/plain' }));
    return service.request(id ? 'PATCH' : 'POST', id ? `/files/${id}` : '/files', { token, body: form });
  };
  const expectCreated = async (reply: Promise<HttpReply>) => {
    const { status, body } = await reply;
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.data;
  };
  const rowOf = async (id: string) =>
    (await service.database.query('select * from platform_files where id = $1', [id]))[0] as Record<string, unknown>;
  const bytesOf = async (id: string) =>
    (await service.request('GET', `/assets/${id}`, { token: service.admin.token })).body as unknown;

  describe('a user with rights to his own files', () => {
    let victim: Record<string, string>;
    let person: TestUserWithToken;
    before(async () => {
      victim = await expectCreated(upload(service.admin.token, 'not yours'));
      person = await createUserWithPermissions(service, [
        { collection: FILES, action: 'create' },
        ...(['read', 'update', 'delete'] as const).map((action) => ({ collection: FILES, action, permissions: OWN })),
        ...(['create', 'read', 'update'] as const).map((action) => ({ collection: 'articles', action })),
      ]);
    });

    it('no write creates a row that names the object of another file', async () => {
      const { token, id: user } = person;
      const mine = await expectCreated(upload(token));
      const claims = { filename_disk: victim.filename_disk, detected_type: 'x/y', uploaded_by: randomUUID() };
      const row = { type: 'text/plain', ...claims };
      const texts = claims as Record<string, string>;
      const ask = (method: string, path: string, body: unknown) => service.request(method, path, { token, body });
      const replies = await Promise.all([
        ask('POST', '/files', row),
        ask('POST', '/files', [row, row]),
        ask('PATCH', `/files/${mine.id}`, claims),
        ask('PATCH', '/files', [{ id: mine.id, ...claims }]),
        ask('PATCH', '/files', { keys: [mine.id], data: claims }),
        ask('PATCH', '/files', { query: { filter: { id: { _eq: mine.id } } }, data: claims }),
        ask('PATCH', `/files/${mine.id}`, { children: { create: [row], update: [], delete: [] } }),
        ask('PATCH', `/files/${mine.id}`, { parent: row }),
        ask('POST', '/items/articles', { title: 'a', image: row }),
        ask('POST', '/items/articles', { title: 'a', image: { id: mine.id, ...claims } }),
        ask('POST', '/files/import', { url: `http://127.0.0.1:${outside.port}/a`, data: claims }),
        ask('POST', '/files/import', { url: `http://127.0.0.1:${outside.port}/a`, data: { id: mine.id, ...claims } }),
        upload(token, 'more', texts),
        upload(token, 'other', texts, mine.id),
        ask('POST', '/graphql/system', {
          query: `mutation { update_files_item(id: "${mine.id}", data: { filename_disk: "${victim.filename_disk}" }) { id } }`,
        }),
        ask('POST', '/graphql', {
          query: `mutation { create_articles_item(data: { image: { type: "a/b", filename_disk: "${victim.filename_disk}" } }) { id } }`,
        }),
      ]);
      for (const { status, body } of replies) expect(status, JSON.stringify(body)).to.equal(200);
      const rows = await service.database.query<Record<string, string>>(
        'select filename_disk, uploaded_by, detected_type from platform_files where id <> $1',
        [victim.id],
      );
      expect(rows.length).to.be.greaterThan(8);
      for (const one of rows) {
        expect(one.filename_disk).to.not.equal(victim.filename_disk);
        expect(one.uploaded_by).to.equal(user);
        expect(one.detected_type).to.not.equal('x/y');
      }
      expect(await service.request('DELETE', '/files', { token, body: { query: {} } })).to.include({ status: 204 });
      expect(await bytesOf(victim.id as string)).to.equal('not yours');
    });

    it('files of other users cannot be changed, taken over or deleted, and their references stay', async () => {
      const { token } = person;
      const mine = await expectCreated(upload(token));
      const article = await requestAsAdmin(service, 'POST', '/items/articles', { title: 'a', image: victim.id });
      const ask = (method: string, path: string, body?: unknown) => service.request(method, path, { token, body });
      const id = victim.id as string;
      const replies = await Promise.all([
        upload(token, 'stolen', {}, id),
        upload(token, 'stolen', { id }),
        upload(token, 'stolen', { id: id.toUpperCase() }),
        ask('PATCH', `/files/${mine.id}`, { id }),
        ask('PATCH', `/files/${mine.id}`, { parent: { id, title: 'stolen' } }),
        ask('PATCH', `/files/${mine.id}`, { children: { create: [], update: [{ id, title: 'stolen' }], delete: [] } }),
        ask('PATCH', `/files/${mine.id}`, { children: { create: [], update: [], delete: [id] } }),
        ask('POST', '/items/articles', { image: { id, title: 'stolen' } }),
        ask('POST', '/files/import', { url: `http://127.0.0.1:${outside.port}/a`, data: { id } }),
        ask('DELETE', '/files', [mine.id, id]),
        ask('DELETE', '/files', { keys: [id, mine.id] }),
        ask('DELETE', `/files/${id}`),
        ask('PATCH', '/files', { keys: [mine.id, id], data: { title: 'stolen' } }),
      ]);
      for (const { status, body } of replies) expect(status, JSON.stringify(body)).to.be.oneOf([400, 403]);
      await ask('DELETE', '/files', { query: { filter: { id: { _in: [mine.id, id] } } } });
      expect(await rowOf(id)).to.include({ title: 'A', parent: null, filename_disk: victim.filename_disk });
      expect(await bytesOf(id)).to.equal('not yours');
      expect((await requestAsAdmin(service, 'GET', `/items/articles/${article.id}`)).image).to.equal(id);
      expect(outside.received.filter(({ url }) => url === '/stolen')).to.have.length(0);
    });

    it('storage cannot name a place outside of the locations', async () => {
      for (const storage of ['../..', '/etc', '__proto__', 'constructor', 'LOCAL', 'local/', ' local', 'local\\x'])
        expect([storage, (await upload(person.token, 'x', { storage })).status]).to.deep.equal([storage, 400]);
      for (const storage of [{ a: 1 }, ['local'], 1, true]) {
        const body = { type: 'text/plain', storage };
        const { status } = await service.request('POST', '/files', { token: person.token, body });
        expect([storage, status]).to.deep.equal([storage, 400]);
      }
      for (const id of ['../../x', 'x', '00000000-0000-0000-0000-00000000000g', `${randomUUID()}/..`])
        expect([id, (await upload(person.token, 'x', { id })).status]).to.deep.equal([id, 400]);
      for (const name of ['../../evil.sh', '..\\..\\evil.sh', '/etc/passwd.sh', 'a.png/../../b.sh']) {
        const row = await expectCreated(upload(person.token, 'x', { filename_download: name }));
        expect(row.filename_disk).to.match(/^[0-9a-f-]{36}(?:\.[a-z0-9]{1,16})?$/);
        expect(row.filename_download).to.not.match(/[/\\]/);
      }
    });
  });

  describe('concurrent requests to one file', () => {
    /** Locks the row of a file, starts the requests `begin` one after the other, and releases the lock once all wait for it. */
    async function held<T>(id: string, begin: readonly (() => Promise<T>)[]): Promise<T[]> {
      const client = new pg.Client({ connectionString: service.database.url });
      await client.connect();
      try {
        await client.query('begin');
        await client.query('select from platform_files where id = $1 for update', [id]);
        const all: Promise<T>[] = [];
        for (const one of begin) {
          all.push(one());
          await waiting(all.length);
        }
        await client.query('commit');
        return await Promise.all(all);
      } finally {
        await client.end();
      }
    }

    async function waiting(count: number): Promise<void> {
      for (let turn = 0; turn < 3000; turn++) {
        const [row] = await service.database.query<{ count: number }>(
          `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        if ((row?.count ?? 0) >= count) return;
        await pause(10);
      }
      throw new Error(`${count} requests were to wait for the row`);
    }

    it('a change of storage during an upload keeps row and object together', async () => {
      const { token } = service.admin;
      const row = await requestAsAdmin(service, 'POST', '/files', { type: 'text/plain' });
      const [replaced] = await held(row.id, [
        () => upload(token, 'first', {}, row.id),
        () => service.request('PATCH', `/files/${row.id}`, { token, body: { storage: 'second' } }),
      ]);
      expect(replaced?.status).to.equal(200);
      expect(await bytesOf(row.id)).to.equal('first');
      expect((await service.request('DELETE', `/files/${row.id}`, { token })).status).to.equal(204);
    });

    it('a replacement and a concurrent delete leave a consistent state in either order', async () => {
      const { token } = service.admin;
      const remove = (id: string) => service.request('DELETE', `/files/${id}`, { token });
      const first = await expectCreated(upload(token));
      await held(first.id, [() => upload(token, 'other', {}, first.id), () => remove(first.id)]);
      expect(await rowOf(first.id)).to.equal(undefined);
      const second = await expectCreated(upload(token));
      const [, late] = await held(second.id, [() => remove(second.id), () => upload(token, 'other', {}, second.id)]);
      expect(late?.status).to.equal(403);
      expect(await rowOf(second.id)).to.equal(undefined);
    });

    it('two concurrent replacements end with the bytes of one of them', async () => {
      const { token } = service.admin;
      const row = await expectCreated(upload(token));
      await held(row.id, [() => upload(token, 'one', {}, row.id), () => upload(token, 'two', {}, row.id)]);
      expect(await bytesOf(row.id)).to.equal('two');
    });

    it('a permission, file or folder removed during an upload makes it fail or succeed as a whole', async () => {
      const person = await createUserWithPermissions(service, [
        { collection: FILES, action: 'create' },
        { collection: FILES, action: 'update' },
      ]);
      const all = await requestAsAdmin(service, 'GET', `/permissions?filter[role][_eq]=${person.role}`);
      const permission = (action: string) => all.find((one: { action: string }) => one.action === action).id;
      const existing = await expectCreated(upload(service.admin.token));
      const shelf = await requestAsAdmin(service, 'POST', '/folders', { name: 'shelf' });
      const drop = (path: string) => () => requestAsAdmin(service, 'DELETE', path);
      const cases: [method: string, path: string, before: string, meanwhile: () => Promise<unknown>, status: number][] =
        [
          ['POST', '/files', field('folder', shelf.id), drop(`/folders/${shelf.id}`), 400],
          ['POST', '/files', '', drop(`/permissions/${permission('create')}`), 403],
          ['PATCH', `/files/${existing.id}`, '', drop(`/permissions/${permission('update')}`), 403],
        ];
      for (const [method, path, before, meanwhile, status] of cases) {
        const count = (await readStoredFilesState(service.database, folder)).rows.length;
        const client = await begun(method, path, person.token, before);
        await meanwhile();
        await client.write(`rest${LINE}${END}`);
        const answer = await client.answers();
        client.close();
        expect([path, answer.slice(0, 12)]).to.deep.equal([path, `HTTP/1.1 ${status}`]);
        expect((await waitUntilFilesConsistent(service.database, folder)).rows.length).to.equal(count);
      }
      expect(await bytesOf(existing.id)).to.equal('bytes');
    });

    it('an import into a file deleted meanwhile ends, even if the server never stops sending', async () => {
      const row = await expectCreated(upload(service.admin.token));
      const closed = Promise.withResolvers<void>();
      const endless = await startRecordingServer(async (_request, response) => {
        response.on('close', closed.resolve);
        await requestAsAdmin(service, 'DELETE', `/files/${row.id}`);
        response.writeHead(200, { 'content-type': 'text/plain' }).write('the first of many');
      });
      try {
        const body = { url: `http://127.0.0.1:${endless.port}/late`, data: { id: row.id } };
        const reply = await service.request('POST', '/files/import', { token: service.admin.token, body });
        expect(reply.status).to.equal(403);
        expect(await rowOf(row.id)).to.equal(undefined);
        await closed.promise;
      } finally {
        await endless.close();
      }
    });

    /** Sends the beginning of a form, and resolves once the service has begun to store the bytes of its file. */
    async function begun(method: string, path: string, token: string, before: string): Promise<RawHttpClient> {
      const form = before + file('first ').slice(0, -LINE.length);
      const length = Buffer.byteLength(`${form}rest${LINE}${END}`);
      const client = await connectRawHttpClient(service.url);
      const there = async () => (await readStoredFilesState(service.database, folder)).orphanEntries;
      const count = await there();
      await client.write(
        `${method} ${path} HTTP/1.1${LINE}Host: x${LINE}Authorization: Bearer ${token}${LINE}` +
          `Content-Type: multipart/form-data; boundary=b${LINE}Content-Length: ${length}${LINE}${LINE}${form}`,
      );
      while ((await there()) === count) await pause(10);
      return client;
    }
  });

  describe('malformed forms', () => {
    const header = (text: string) => part(text, 'x');
    const named = (text: string) => header(`Content-Disposition: form-data; name="file"; filename="${text}"`);
    // biome-ignore format: a table
    const FORMS: readonly (readonly [what: string, form: string, type?: string])[] = [
      ['no boundary', file() + END, 'multipart/form-data'],
      ['an empty boundary', file() + END, 'multipart/form-data; boundary=""'],
      ['a boundary too long', file() + END, `multipart/form-data; boundary=${'b'.repeat(71)}`],
      ['another boundary', file() + END, 'multipart/form-data; boundary=c'],
      ['another kind of form', file() + END, 'multipart/mixed; boundary=b'],
      ['nothing at all', ''],
      ['nothing but an end', END],
      ['no end', file()],
      ['an end in the middle of a file', file().slice(0, -3)],
      ['lines of another kind', (file() + END).replaceAll(LINE, '\n')],
      ['a part without headers', `--b${LINE}${LINE}x${LINE}${END}`],
      ['a part without a name', header('Content-Disposition: form-data; filename="a"') + END],
      ['a file without a name', named('') + END],
      ['a NUL in a name', named('a\0b') + END],
      ['a NUL in a name that is encoded', file('x', `; filename*=UTF-8''a%00b`) + END],
      ['a header of 100 KB', named('a'.repeat(100_000)) + END],
      ['a thousand headers before the one that counts', header(`${`X: y${LINE}`.repeat(1000)}Content-Disposition: form-data; name="file"; filename="a"`) + END],
      ['two names of which the first is a field', header(`Content-Disposition: form-data; name="title"${LINE}Content-Disposition: form-data; name="file"; filename="a"`) + END],
      ['a form in a form', part(`Content-Disposition: form-data; name="file"${LINE}Content-Type: multipart/mixed; boundary=c`, `--c${LINE}Content-Disposition: file; filename="a"${LINE}${LINE}x${LINE}--c--`) + END],
      ['twenty thousand fields', field('title', 'x').repeat(20_000) + END],
      ['a field of a megabyte', field('title', 'x'.repeat(1_100_000)) + file() + END],
      ['a field nested without end', field('tags', '['.repeat(100_000)) + file() + END],
      ['a prototype', field('__proto__', '{"id":"x"}') + file() + END],
      ['a constructor', field('constructor', 'x') + file() + END],
      ['a NUL in a field', field('title', 'a\0b') + file() + END],
      ['a file that is too large', file('x'.repeat(1024 * 1024 + 1)) + END],
    ];

    for (const [what, form, type = 'multipart/form-data; boundary=b'] of FORMS) {
      it(`a form with ${what} stores nothing and leaves the connection usable`, async () => {
        const before = await readStoredFilesState(service.database, folder);
        const client = await connectRawHttpClient(service.url);
        const auth = `Authorization: Bearer ${service.admin.token}`;
        await client.write(
          `POST /files HTTP/1.1${LINE}Host: x${LINE}${auth}${LINE}Content-Type: ${type}${LINE}` +
            `Content-Length: ${Buffer.byteLength(form)}${LINE}${LINE}`,
        );
        await client.write(form);
        await client.write(`GET /server/ping HTTP/1.1${LINE}Host: x${LINE}${LINE}`);
        const answers = await client.answers(2);
        client.close();
        const [first, second] = [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
        expect([first, second]).to.satisfy(([one]: number[]) => [400, 413, 415].includes(one as number));
        expect(second).to.equal(200);
        expect((await waitUntilFilesConsistent(service.database, folder)).rows).to.deep.equal(before.rows);
      });
    }
  });

  describe('imports from internal addresses', () => {
    let strict: InProcessService;
    before(async () => {
      strict = await startService({ database: service.database, env: { STORAGE_LOCAL_ROOT: join(folder, 'local') } });
    });
    after(() => strict?.stop());

    const own = Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []);
    // biome-ignore format: a table
    const HOSTS = [
      '127.0.0.1', '2130706433', '0x7f000001', '0x7f.1', '017700000001', '0177.0.0.1', '127.1', '127.000.000.001', '127.255.255.254',
      '0.0.0.0', '0', '[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:7f00:1]', '[::127.0.0.1]',
      '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[fe80::1]', '[fd00:ec2::254]', '[ff02::1]', 'localhost', 'LOCALHOST', 'localhost.',
      '127.0.0.1.', '①②⑦.⓪.⓪.①', '127。0。0。1', '%31%32%37.0.0.1', '169.254.169.254', '2852039166', '[::ffff:a9fe:a9fe]',
      '100.64.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255', '168.63.129.16',
      ...own.map((address) => (address.includes(':') ? `[${address.split('%')[0]}]` : address)),
    ];

    it('an import from an internal address is denied in every notation', async () => {
      const before = outside.received.length;
      for (const host of HOSTS) {
        const body = { url: `http://${host}:${outside.port}/inside` };
        const { status } = await strict.request('POST', '/files/import', { token: strict.admin.token, body });
        expect([host, status]).to.deep.equal([host, 503]);
      }
      expect(outside.received.slice(before)).to.deep.equal([]);
    });

    it('an import with another protocol, credentials or an invalid URL is rejected', async () => {
      const port = outside.port;
      const urls = [
        ...[
          'file:///etc/passwd',
          'ftp://127.0.0.1/x',
          'gopher://127.0.0.1/x',
          'data:text/plain,x',
          'javascript:1',
          'blob:x',
        ],
        ...['//127.0.0.1/x', '/etc/passwd', 'http:', 'http://', 'http:///x', 'http:127.0.0.1', 'http:\\\\127.0.0.1\\x'],
        ...[
          `http://a:b@127.0.0.1:${port}/`,
          `http://a@127.0.0.1:${port}/`,
          `http://127.0.0.1:${port}@x/`,
          `\nhttp://127.0.0.1:${port}/`,
        ],
        ...[
          'http://[::1',
          'http://127.0.0.1:99999/',
          `http://${'a'.repeat(9000)}/`,
          '',
          null,
          5,
          ['http://x'],
          { href: 'http://x' },
        ],
      ];
      for (const url of urls) {
        const { status } = await strict.request('POST', '/files/import', { token: strict.admin.token, body: { url } });
        expect([url, status]).to.deep.equal([url, 400]);
      }
    });

    it('an imported file is named by its URL, not by Content-Disposition', async () => {
      const body = { url: `http://127.0.0.1:${outside.port}/%2e%2e%2f%2e%2e%2fetc%2fcron.sh` };
      const row = await expectCreated(service.request('POST', '/files/import', { token: service.admin.token, body }));
      expect(row.filename_download).to.equal('cron.sh');
      expect(row.filename_disk).to.equal(`${row.id}.sh`);
    });
  });
});
