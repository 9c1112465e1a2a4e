import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { withAuditSentences } from '../../plugins/broker/library.ts';
import { type InProcessService, startService } from '../support/service.ts';

/** The files of a package by their paths: package.json with this manifest, and the built files. */
const packageOf = (name: string, manifest: object, files: Record<string, string>): Record<string, string> => ({
  [`${name}/package.json`]: JSON.stringify({
    name,
    version: '2.0.0',
    type: 'module',
    'service:extension': { host: '^1.0.0', ...manifest },
  }),
  ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`${name}/${path}`, text])),
});

const ROWS = `
export default { id: 'desk', handler: (router, { services, exceptions, database, extensionSettings }) => {
  const { ItemsService } = services;
  router.get('/mine', async (req, res, next) => {
    try {
      const service = new ItemsService('notes', { schema: req.schema, accountability: req.accountability });
      res.json({ data: await service.readByQuery(req.sanitizedQuery) });
    } catch (error) {
      next(error);
    }
  });
  router.get('/all', async (req, res) => res.json({ data: await new ItemsService('notes', { schema: req.schema }).readByQuery() }));
  router.get('/count', async (req, res) => res.json(await database('notes').count('* as rows').first()));
  router.get('/greeting', async (req, res) => res.json(await extensionSettings.get('greeting')));
  router.post('/', async (req, res, next) => {
    if (!req.body.text) return next(new exceptions.InvalidPayloadException('"text" is required'));
    const key = await new ItemsService('notes', { accountability: req.accountability }).createOne(req.body);
    res.status(201).json({ data: key });
  });
} };`;

const HOOK = `
export default ({ filter, action, init }, { services, logger, exceptions }) => {
  filter('notes.items.create', (payload) => {
    if (payload.text === 'forbidden') throw new exceptions.ForbiddenException();
    return { ...payload, text: payload.text.trim() };
  });
  action('notes.items.create', async ({ key }, { accountability }) => {
    await new services.ItemsService('traces').createOne({ note: key, admin: accountability?.admin ?? null });
  });
  init('app.after', () => logger.info('the service is complete'));
  for (const name of ['server.start', 'server.stop'])
    action(name, ({ event, ...meta }) => logger.info([event, 'server' in meta].join(' ')));
};`;

describe('extensions with full authority in the service', () => {
  let folder: string;
  let service: InProcessService;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-full-http-'));
    const files: Record<string, string> = {
      ...packageOf(
        'service-extension-desk',
        { type: 'endpoint', path: 'dist/index.js', source: 'src/index.js', settings: { greeting: { type: 'string' } } },
        { 'dist/index.js': ROWS },
      ),
      ...packageOf(
        'service-extension-trim',
        { type: 'hook', path: 'index.js', source: 'index.js' },
        { 'index.js': HOOK },
      ),
      ...packageOf(
        'service-extension-broken',
        { type: 'hook', path: 'index.js', source: 'index.js' },
        {
          'index.js': `export default ({ filter }) => { filter('notes.items.create', () => ({ text: 'never' })); throw new Error('no'); }`,
        },
      ),
      ...packageOf(
        'service-extension-unbuilt',
        { type: 'endpoint', path: 'dist/index.js', source: 'src/index.js' },
        {},
      ),
      ...packageOf(
        'service-extension-set',
        {
          type: 'bundle',
          path: { app: 'dist/app.js', api: 'dist/api.js' },
          entries: [
            { type: 'endpoint', name: 'set-one', source: 'src/one.js' },
            { type: 'hook', name: 'set-two', source: 'src/two.js' },
          ],
        },
        {
          'dist/app.js': 'export const interfaces = [];',
          'dist/api.js': `export const endpoints = [{ name: 'set-one', config: (router) => { router.get('/', (req, res) => res.send('set')); } }];
            export const hooks = [{ name: 'set-two', config: ({ filter }) => filter('notes.items.update', (payload) => ({ ...payload, text: 'set' })) }];`,
        },
      ),
      'endpoints/plain/index.js': `module.exports = (router) => { router.get('/', (req, res) => res.send('plain')); };`,
    };
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    service = await startService({ env: { EXTENSIONS_PATH: folder, LOG_LEVEL: 'info' } });
    await service.database.query('create table notes (id serial primary key, text text)');
    await service.database.query('create table traces (id serial primary key, note int, admin boolean)');
  });
  after(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const send = (method: string, path: string, body?: object) =>
    service.request(method, path, { body, token: service.admin.token });

  it('GET /extensions lists extensions with full authority and their status', async () => {
    const { data } = (await send('GET', '/extensions')).body;
    const seen = Object.fromEntries(
      data.map((one: { name: string; status: string; reason?: { code: string } }) => [
        one.name,
        one.reason ? [one.status, one.reason.code] : one.status,
      ]),
    );
    expect(seen).to.deep.equal({
      'service-extension-desk': 'loaded',
      'service-extension-trim': 'loaded',
      'service-extension-broken': ['failed', 'REGISTRATION_FAILED'],
      'service-extension-unbuilt': ['failed', 'ENTRYPOINT_NOT_FOUND'],
      'service-extension-set': 'loaded',
      plain: 'loaded',
    });
  });

  it('endpoints answer, filters change writes and actions run after them', async () => {
    const created = await send('POST', '/desk', { text: '  a  ' });
    expect([created.status, created.body]).to.deep.equal([201, { data: 1 }]);
    expect((await send('GET', '/desk/mine?fields=text')).body).to.deep.equal({ data: [{ text: 'a' }] });
    expect((await send('GET', '/desk/count')).body).to.deep.equal({ rows: '1' });
    await send('PATCH', '/items/notes/1', { text: 'b' });
    expect((await send('GET', '/items/notes/1')).body.data.text).to.equal('set');
    for (const deadline = Date.now() + 30_000; Date.now() < deadline; ) {
      if ((await service.database.query('select 1 from traces')).length > 0) break;
    }
    expect(await service.database.query('select note, admin from traces')).to.deep.equal([{ note: 1, admin: true }]);
  });

  it("exceptions of an extension are answered in the service's error format", async () => {
    const missing = await send('POST', '/desk', {});
    expect([missing.status, missing.body.errors[0].extensions.code]).to.deep.equal([400, 'INVALID_PAYLOAD']);
    expect((await send('POST', '/items/notes', { text: 'forbidden' })).status).to.equal(403);
    expect((await service.request('GET', '/desk/mine')).body.errors[0].extensions.code).to.equal('FORBIDDEN');
    expect((await service.request('GET', '/desk/all')).status).to.equal(200);
  });

  it('packages and single files answer under their names and read their settings', async () => {
    expect((await send('GET', '/plain')).body).to.equal('plain');
    expect((await send('GET', '/set-one')).body).to.equal('set');
    const setting = {
      subject: 'service-extension-desk',
      scope: 'global',
      scope_key: '',
      key: 'greeting',
      value: 'hello',
    };
    expect((await send('POST', '/extension-settings', setting)).status).to.be.lessThan(300);
    expect((await send('GET', '/desk/greeting')).body).to.equal('hello');
  });

  it('GET /extensions/audit lists their authorities and their ledger entries', async () => {
    const line = withAuditSentences(service.kernel.audit()).find(({ name }) => name === 'service-extension-desk');
    expect(line?.runtime).to.equal('full');
    expect(line?.sentences).to.include.members(['serves /desk', 'may do everything this process can do']);
    const did = service.kernel.ledger.entries().find(({ plugin }) => plugin === 'service-extension-desk@2.0.0');
    expect(did).to.include({ kind: 'system', what: 'service without accountability' });
    expect(service.kernel.audit().some(({ name }) => name === 'service-extension-broken')).to.equal(false);
  });

  it('init handlers and server.start listeners were called at the start', () => {
    const reports = service.log.map(({ msg }) => msg);
    expect(reports.filter((msg) => msg === 'the service is complete')).to.have.length(1);
    expect(reports.filter((msg) => msg === 'server.start false')).to.have.length(1);
  });

  it('a reload removes and loads extensions', async () => {
    await writeFile(
      join(folder, 'service-extension-desk/dist/index.js'),
      `export default { id: 'counter', handler: (router) => { router.get('/', (req, res) => res.send('new')); } };`,
    );
    expect((await send('POST', '/extensions/reload')).status).to.be.lessThan(300);
    expect((await send('GET', '/counter')).body).to.equal('new');
    expect((await send('GET', '/desk/count')).status).to.equal(404);
    expect((await send('POST', '/items/notes', { text: ' still ' })).body.data.text).to.equal('still');
  });

  it('server.stop listeners are called at the stop', async () => {
    await service.kernel.stop();
    expect(service.log.filter(({ msg }) => String(msg).startsWith('server.stop'))).to.have.length(1);
  });
});
