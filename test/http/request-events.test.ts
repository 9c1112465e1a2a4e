import { expect } from 'chai';
import { createPackageFolder, createPackageJson, type PackageFolder } from '../plugins/extensions/package-folder.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type ConfinedPackageFolder, createConfinedPackageFolder } from './confined-packages.ts';

const CONFINED = `export default { id: 'watch', filters: {
  'request.not_found'(payload, meta, { host }) { host.log.info('received not_found', meta); },
}, actions: {
  response(meta, { host }) { host.log.info('received response', meta); },
} };`;

const FULL = `export default ({ filter, action }) => {
  const received = (globalThis.tenonRequestEvents ??= []);
  action('response', ({ request, response, ip, duration, finished, event }) =>
    void received.push({ event, path: request.url, status: response.statusCode, ip, duration, finished }));
  action('letters.items.sort', ({ item, to, collection, event }) => void received.push({ event, item, to, collection }));
  filter('authenticate', (accountability, { req }) => {
    const named = req.headers['x-named'];
    if (named === undefined) return undefined;
    return { ...accountability, ...JSON.parse(named) };
  });
  filter('database.error', (error, { client }) =>
    error.extensions.code === 'RECORD_NOT_UNIQUE' ? { ...error, message: client + ' has it already.' } : undefined);
};`;

interface ReceivedEvent {
  readonly event: string;
  readonly path?: string;
  readonly [key: string]: unknown;
}

const received = (): ReceivedEvent[] => {
  const own = globalThis as { tenonRequestEvents?: ReceivedEvent[] };
  own.tenonRequestEvents ??= [];
  return own.tenonRequestEvents;
};

describe('events of requests', function () {
  this.timeout(120_000);

  describe('for code with full authority', () => {
    let place: PackageFolder;
    let service: InProcessService;

    before(async () => {
      const manifest = { type: 'hook', path: 'dist/index.js', source: 'src/index.js', host: '^1.0.0' };
      place = await createPackageFolder({
        'service-extension-watched/package.json': createPackageJson('service-extension-watched', manifest),
        'service-extension-watched/dist/index.js': FULL,
        'service-extension-watched/src/index.js': FULL,
      });
      service = await startService({ env: { EXTENSIONS_PATH: place.path } });
      await service.database.query('create table letters (id serial primary key, sort integer, code text unique)');
      await service.database.query("insert into letters (sort, code) values (1, 'a'), (2, 'b')");
      const meta = { sort_field: 'sort' };
      await service.request('PATCH', '/collections/letters', { token: service.admin.token, body: { meta } });
    });
    after(async () => {
      await service?.stop();
      await place?.remove();
    });
    beforeEach(() => void received().splice(0));

    const as = (named: unknown, path = '/users/me') =>
      service.request('GET', path, { headers: { 'x-named': JSON.stringify(named) } });

    it('"response" tells path, status, address and duration after an answer, also of errors', async () => {
      await service.request('GET', '/server/ping');
      await service.request('GET', '/nothing/here');
      const [first, second] = await until(() => {
        const list = received().filter(({ event }) => event === 'response');
        return list.length === 2 && list;
      });
      expect(first).to.deep.include({ path: '/server/ping', status: 200, ip: '127.0.0.1', finished: true });
      expect(first?.duration).to.be.a('number');
      expect(second).to.deep.include({ path: '/nothing/here', status: 404, finished: true });
    });

    it('"items.sort" tells what was moved where', async () => {
      const body = { item: 2, to: 1 };
      await service.request('POST', '/utils/sort/letters', { token: service.admin.token, body });
      const sorted = await until(() => received().find(({ event }) => event === 'letters.items.sort'));
      expect(sorted).to.deep.include({ item: 2, to: 1, collection: 'letters' });
    });

    it('"authenticate" names the caller of a request in place of its token', async () => {
      const { body } = await service.request('GET', '/users/me', { token: service.admin.token });
      const user = body.data.id;
      expect((await as({ user, admin: true, app: true })).body.data.id).to.equal(user);
      expect((await as({ admin: true }, '/collections')).status).to.equal(200);
    });

    it('"authenticate" leaves a request to its token where the answer is the same', async () => {
      const reply = await service.request('GET', '/users/me', {
        token: service.admin.token,
        headers: { 'x-named': '{}' },
      });
      expect(reply.status).to.equal(200);
      expect((await service.request('GET', '/users/me')).status).to.be.oneOf([401, 403]);
    });

    for (const named of [{ user: 'x' }, { admin: 'yes' }, { role: 7 }])
      it(`"authenticate" ends a request for the accountability ${JSON.stringify(named)}`, async () => {
        expect((await as(named, '/server/info')).status).to.equal(500);
      });

    it('"database.error" may answer another error, with the same status', async () => {
      const write = (code: string) =>
        service.request('POST', '/items/letters', { token: service.admin.token, body: { code } });
      const { status, body } = await write('a');
      expect([status, body.errors[0].message, body.errors[0].extensions.code]).to.deep.equal([
        400,
        'pg has it already.',
        'RECORD_NOT_UNIQUE',
      ]);
      expect((await write('c')).status).to.equal(200);
    });
  });

  describe('for confined code', () => {
    let packages: ConfinedPackageFolder;
    let service: InProcessService;

    before(async () => {
      packages = await createConfinedPackageFolder();
      const events = { filter: ['request.not_found'], action: ['response'] };
      await packages.put('service-extension-watch', { type: 'hook', events, capabilities: { log: true } }, CONFINED);
      await packages.put(
        'service-extension-namer',
        { type: 'hook', events: { filter: ['authenticate'] }, capabilities: {} },
        `export default { id: 'namer', filters: { authenticate: (payload) => ({ ...payload, admin: true }) } };`,
      );
      service = await startService({ env: { EXTENSIONS_PATH: packages.path, LOG_LEVEL: 'info' } });
    });
    after(async () => {
      await service?.stop();
      await packages?.remove();
    });

    it('have no header, no query string and no body, which may hold tokens', async () => {
      await service.request('GET', '/nothing/here?access_token=', {
        token: service.admin.token,
        headers: { cookie: 'session=a-cookie' },
      });
      const lines = await until(() => {
        const own = service.log.map((line) => JSON.stringify(line));
        const list = ['received not_found', 'received response'].map((text) => own.find((line) => line.includes(text)));
        return list.every((line) => line !== undefined) && list;
      });
      for (const line of lines) {
        expect(line).to.include('/nothing/here').and.to.include('GET');
        expect(line).not.to.include(service.admin.token);
        expect(line).not.to.match(/a-cookie|authorization|access_token/i);
      }
    });

    it('do not decide who a caller is', async () => {
      expect((await service.request('GET', '/collections')).status).to.equal(403);
      const { body } = await service.request('GET', '/extensions', { token: service.admin.token });
      const row = body.data.find(({ name }: { name: string }) => name === 'service-extension-namer');
      expect([row.status, row.reason.code]).to.deep.equal(['failed', 'EVENT_INVALID']);
    });
  });
});
