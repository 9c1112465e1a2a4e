import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { connectRawHttpClient } from '../plugins/files-http/raw-client.ts';
import {
  areStoredFilesConsistent,
  readStoredFilesState,
  waitUntilFilesConsistent,
} from '../plugins/files-http/stored-files.ts';
import { type RecordingServer, startRecordingServer } from '../plugins/outbound/recording-server.ts';
import {
  createTestUserAccount,
  createUserSender,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
} from '../plugins/users/test-users.ts';
import { type InProcessService, startService } from '../support/service.ts';

describe('POST /files/import', () => {
  let service: InProcessService;
  let folder: string;
  let outside: RecordingServer;
  let admin: SendAsUser;
  /** Responses of the test server that the test ends later. */
  const held: ServerResponse[] = [];
  const at = (path: string, host = '127.0.0.1') => `http://${host}:${outside.port}${path}`;
  before(async () => {
    outside = await startRecordingServer((request, response) => {
      const url = new URL(request.url ?? '', 'http://x');
      const to = url.searchParams.get('to') ?? '';
      const hops = Number(url.searchParams.get('hops') ?? 0);
      switch (url.pathname.split('/')[1]) {
        case 'redirect':
          return response.writeHead(Number(url.searchParams.get('status') ?? 302), { location: to }).end('elsewhere');
        case 'hops':
          return hops > 0
            ? response.writeHead(307, { location: `?hops=${hops - 1}` }).end()
            : response.writeHead(200, { 'content-type': 'text/plain' }).end('arrived');
        case 'status':
          return response.writeHead(Number(url.searchParams.get('status'))).end('x');
        case 'large':
          return response.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(200_000));
        case 'told-large':
          return response.writeHead(200, { 'content-length': '200000' }).write('x');
        case 'cut':
          response.writeHead(200, { 'content-length': '100' }).write('x'.repeat(50));
          return setImmediate(() => response.destroy());
        case 'never':
          return held.push(response);
        case 'slow':
          response.writeHead(200, { 'content-type': 'text/plain' }).write('x');
          return held.push(response);
        case 'packed':
          return response.writeHead(200, { 'content-encoding': 'gzip' }).end('x');
        case 'untyped':
          return response.writeHead(200).end('no type');
        default:
          return response
            .writeHead(200, { 'Content-Type': 'Text/Plain; charset=UTF-8' })
            .end(`bytes of ${url.pathname}`);
      }
    });
    folder = await mkdtemp(join(tmpdir(), 'tenon-files-'));
    service = await startService({
      env: {
        STORAGE_LOCAL_ROOT: folder,
        IMPORT_IP_ALLOW_LIST: '127.0.0.1',
        IMPORT_MAX_FILE_SIZE: '100kb',
        IMPORT_TIMEOUT: '5s',
        IMPORT_MAX_CONCURRENCY: '2',
        FILES_MIME_TYPE_ALLOW_LIST: 'text/*,application/octet-stream',
      },
    });
    admin = createUserSender(service, service.admin.token);
  });
  after(async () => {
    await service?.stop();
    await outside?.close();
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(async () => {
    for (const response of held.splice(0)) response.destroy();
    const kept = await waitUntilFilesConsistent(service.database, folder);
    expect(areStoredFilesConsistent(kept), `rows and bytes agree: ${JSON.stringify(kept)}`).to.equal(true);
  });

  const fetchFile = (url: unknown, data?: unknown, query = '') =>
    admin('POST', `/files/import${query}`, data === undefined ? { url } : { url, data });
  const refused = async (url: unknown, data?: unknown) => {
    const before = (await readStoredFilesState(service.database, folder)).rows.length;
    const reply = await fetchFile(url, data);
    expect((await readStoredFilesState(service.database, folder)).rows.length, 'files that are kept').to.equal(before);
    return statusAndCodeOf(reply);
  };

  it('an import creates a file from a URL', async () => {
    const { status, body } = await fetchFile(at('/pictures/b-c_d%20e.txt?size=large#x'));
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body.data).to.deep.include({
      title: 'B C D E',
      filename_download: 'b-c_d e.txt',
      type: 'text/plain',
      charset: 'utf-8',
      filesize: '32',
      filename_disk: `${body.data.id}.txt`,
    });
    expect((await admin('GET', `/assets/${body.data.id}`)).body).to.equal('bytes of /pictures/b-c_d%20e.txt');
    expect(outside.received.at(-1)).to.include({ method: 'GET', url: '/pictures/b-c_d%20e.txt?size=large' });
  });

  it('values in data override those from the response', async () => {
    const data = {
      title: 'Mine',
      filename_download: 'mine.log',
      type: 'text/x-log',
      tags: ['a'],
      uploaded_by: 'x',
      filename_disk: '../x',
    };
    const { body } = await fetchFile(at('/a.txt'), data, '?fields=title,filename_download,type,tags,filename_disk,id');
    const { id, ...rest } = body.data;
    expect(rest).to.deep.equal({
      title: 'Mine',
      filename_download: 'mine.log',
      type: 'text/x-log',
      tags: ['a'],
      filename_disk: `${id}.log`,
    });
  });

  it('an import without a file name in its URL gets a default name', async () => {
    const name = async (path: string) => (await fetchFile(at(path))).body.data?.filename_download;
    expect(await name('/')).to.be.a('string');
    expect(await name('/folder/')).to.equal('folder');
    expect(await name('/%2e%2e%2fetc%2fpasswd')).to.equal('passwd');
    expect(await name('/%E2%82%AC.txt')).to.equal('€.txt');
    expect(await name('/broken%E2%82.txt')).to.equal('broken%E2%82.txt');
    expect(await name('/untyped/a')).to.equal('a');
  });

  it('an import without a URL or with invalid data is rejected with INVALID_PAYLOAD', async () => {
    const before = outside.received.length;
    for (const url of [
      ...[undefined, null, 1, '', 'a.txt', '/a.txt', '//127.0.0.1/a', 'http:a', 'http://', 'ftp://127.0.0.1/a'],
      ...['file:///etc/passwd', 'data:text/plain,x', 'javascript:x', at('/a').replace('://', '://user:secret@')],
    ])
      expect(await refused(url), String(url)).to.deep.equal([400, 'INVALID_PAYLOAD']);
    for (const data of ['x', 1, ['a']])
      expect(await refused(at('/a.txt'), data), String(data)).to.deep.equal([400, 'INVALID_PAYLOAD']);
    for (const body of [[], 'x', undefined])
      expect((await admin('POST', '/files/import', body)).status, String(body)).to.equal(400);
    expect(outside.received.length).to.equal(before);
  });

  it('an import from a denied address is rejected', async () => {
    const before = outside.received.length;
    for (const host of ['127.0.0.2', '[::1]', '0.0.0.0', '2130706434', '0x7f.2', '[::ffff:127.0.0.2]'])
      expect(await refused(at('/a.txt', host)), host).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
    expect(await refused('http://169.254.169.254/latest/meta-data')).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
    expect(outside.received.length).to.equal(before);
  });

  it('an import follows redirects and checks each URL', async () => {
    const to = (url: string, status = 302) => at(`/redirect?status=${status}&to=${encodeURIComponent(url)}`);
    for (const status of [301, 302, 303, 307, 308]) {
      const { body } = await fetchFile(to('/other.txt', status));
      expect((await admin('GET', `/assets/${body.data.id}`)).body).to.equal('bytes of /other.txt');
      expect(body.data.filename_download).to.equal('redirect');
    }
    expect((await fetchFile(at('/hops?hops=5'))).status).to.equal(200);
    const before = outside.received.length;
    for (const target of [
      at('/a.txt', '127.0.0.2'),
      at('/a.txt', '2130706434'),
      'file:///etc/passwd',
      at('/a.txt').replace('://', '://user:secret@'),
      'http://[',
    ])
      expect(await refused(to(target)), target).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
    expect(outside.received.length, 'only the redirects were asked for').to.equal(before + 5);
    expect(await refused(at('/hops?hops=6'))).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
    expect(await refused(at('/hops?hops=100'))).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
  });

  it('a response that is no file is rejected with SERVICE_UNAVAILABLE', async () => {
    for (const status of [206, 304, 400, 401, 404, 500, 503])
      expect(await refused(at(`/status?status=${status}`)), String(status)).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
    expect(await refused(at('/redirect?status=300&to=x'))).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
    expect(await refused(at('/packed'))).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
    expect(await refused(at('/cut'))).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
    expect(await refused('http://127.0.0.1:1/a.txt')).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
    expect(await refused('http://nowhere.invalid/a.txt')).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
  });

  it('an import over IMPORT_MAX_FILE_SIZE is rejected, with and without Content-Length', async () => {
    expect(await refused(at('/large'))).to.deep.equal([413, 'CONTENT_TOO_LARGE']);
    expect(await refused(at('/told-large'))).to.deep.equal([413, 'CONTENT_TOO_LARGE']);
  });

  it('an import of a type outside of FILES_MIME_TYPE_ALLOW_LIST is rejected', async () => {
    expect(await refused(at('/a.png'), { type: 'image/png' })).to.deep.equal([400, 'INVALID_PAYLOAD']);
  });

  it('an import over IMPORT_TIMEOUT is rejected with OUT_OF_TIME', async () => {
    for (const path of ['/never', '/slow']) {
      const started = performance.now();
      const { status, body } = await fetchFile(at(path));
      expect([status, body.errors[0].extensions], path).to.deep.equal([
        408,
        { category: 'import', duration: 5000, code: 'OUT_OF_TIME' },
      ]);
      expect(performance.now() - started).to.be.within(4900, 40_000);
    }
  });

  it('imports over IMPORT_MAX_CONCURRENCY are rejected with SERVICE_UNAVAILABLE', async () => {
    const running = [fetchFile(at('/never')), fetchFile(at('/never'))];
    while (held.length < 2) await new Promise((resolve) => setImmediate(resolve));
    expect(statusAndCodeOf(await fetchFile(at('/a.txt')))).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
    for (const response of held) response.writeHead(200, { 'content-type': 'text/plain' }).end('late');
    expect((await Promise.all(running)).map(({ status }) => status)).to.deep.equal([200, 200]);
    expect((await fetchFile(at('/a.txt'))).status).to.equal(200);
  });

  it('an import ends when its client leaves', async () => {
    const client = await connectRawHttpClient(service.url);
    const body = JSON.stringify({ url: at('/slow') });
    const head = ['POST /files/import HTTP/1.1', 'host: x', `authorization: Bearer ${service.admin.token}`];
    const rest = ['content-type: application/json', `content-length: ${body.length}`, '', body];
    await client.write([...head, ...rest].join('\r\n'));
    while (held.length < 1) await new Promise((resolve) => setImmediate(resolve));
    const closed = new Promise((resolve) => held[0]?.once('close', resolve));
    client.close();
    const started = performance.now();
    await closed;
    expect(performance.now() - started).to.be.below(4500);
  });

  it('an import with an id replaces an existing file, or creates one with that id', async () => {
    const old = (await fetchFile(at('/old.txt'), { description: 'stays' })).body.data;
    const { status, body } = await fetchFile(at('/new.txt'), { id: old.id, tags: ['new'] });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body.data).to.deep.include({ id: old.id, description: 'stays', tags: ['new'], filesize: '17' });
    expect(body.data.filename_disk).to.not.equal(old.filename_disk);
    const id = 'ABCDEF11-1111-4111-8111-111111111111';
    const created = await fetchFile(at('/own-id.txt'), { id });
    expect(created.body.data.id).to.equal(id.toLowerCase());
    expect((await fetchFile(at('/again.txt'), { id })).body.data).to.deep.include({ id: id.toLowerCase() });
    expect(await refused(at('/a.txt'), { id: 'nonsense' })).to.deep.equal([400, 'INVALID_PAYLOAD']);
  });

  it('an import checks create or update permission before it fetches', async () => {
    const grant = (action: string, more = {}) => ({ collection: 'platform_files', action, ...more });
    const person = async (...grants: ReturnType<typeof grant>[]) =>
      (await createTestUserAccount(service, await makeRole(service, {}, grants))).ask;
    const creator = await person(grant('create'));
    const updater = await person(grant('update'), grant('read'));
    const titled = await person(grant('create', { fields: ['title'], validation: { title: { _nnull: true } } }));
    const reader = await person(grant('read'));
    const { id } = (await fetchFile(at('/there.txt'))).body.data;
    const before = outside.received.length;
    const fetchAs = async (ask: SendAsUser, data = {}) =>
      (await ask('POST', '/files/import', { url: at('/x.txt'), data })).status;
    expect(await fetchAs(reader)).to.equal(403);
    expect(await fetchAs(createUserSender(service, null))).to.equal(403);
    expect(await fetchAs(updater)).to.equal(403);
    expect(await fetchAs(creator, { id })).to.equal(403);
    expect(await fetchAs(titled, { description: 'x' })).to.equal(403);
    expect(outside.received.length, 'nothing was fetched').to.equal(before);
    expect(await fetchAs(creator)).to.equal(204);
    expect(await fetchAs(titled, { title: 'x' })).to.equal(204);
    expect(await fetchAs(updater, { id })).to.equal(200);
  });

  describe('mutation import_file', () => {
    const ask = async (who: SendAsUser, query: string, variables = {}) =>
      (await who('POST', '/graphql/system', { query, variables })).body;

    it('import_file answers the record', async () => {
      const query =
        'mutation ($url: String!) { import_file(url: $url, data: { title: "By name" }) { title type filesize } }';
      expect(await ask(admin, query, { url: at('/a.txt') })).to.deep.equal({
        data: { import_file: { title: 'By name', type: 'text/plain', filesize: '15' } },
      });
      const { errors } = await ask(admin, 'mutation { import_file(url: "nonsense") { id } }');
      expect(JSON.stringify(errors)).to.contain('INVALID_PAYLOAD');
      const denied = await ask(admin, 'mutation ($url: String!) { import_file(url: $url) { id } }', {
        url: at('/a', '127.0.0.2'),
      });
      expect(JSON.stringify(denied.errors)).to.contain('SERVICE_UNAVAILABLE');
    });

    it('import_file is offered to callers that may create and read files', async () => {
      const grant = (action: string) => ({ collection: 'platform_files', action });
      const names = async (...actions: string[]) => {
        const { ask: who } = await createTestUserAccount(service, await makeRole(service, {}, actions.map(grant)));
        const { data } = await ask(who, '{ __schema { mutationType { fields { name } } } }');
        return (data.__schema.mutationType?.fields ?? []).map(({ name }: { name: string }) => name);
      };
      expect(await names('create', 'read')).to.include('import_file');
      expect(await names('read', 'update')).to.not.include('import_file');
    });
  });
});
