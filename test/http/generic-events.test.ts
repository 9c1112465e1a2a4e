import { expect } from 'chai';
import { type ProviderFixture, startProviderFixture } from '../plugins/auth-providers/provider-fixture.ts';
import { createPackageFolder, createPackageJson, type PackageFolder } from '../plugins/extensions/package-folder.ts';
import { until } from '../support/until.ts';

const FILTERS = ['request.not_found', 'request.error', 'database.error', 'authenticate', 'auth.create', 'auth.update'];
const ACTIONS = ['response', 'items.sort', 'letters.items.sort', 'auth.login', 'server.start'];
const INITS = ['cli.before', 'cli.after', 'app.before', 'app.after'];

const HOOK = `export default ({ filter, action, init }) => {
  const received = (globalThis.tenonGenericEvents ??= []);
  for (const event of ${JSON.stringify(FILTERS)}) filter(event, (_payload, meta) => void received.push(meta.event));
  for (const event of ${JSON.stringify(ACTIONS)}) action(event, (meta) => void received.push(meta.event));
  for (const event of ${JSON.stringify(INITS)}) init(event, (meta) => void received.push(meta.event + (meta.program ? ' with program' : '')));
};`;

const received = (): string[] => (globalThis as { tenonGenericEvents?: string[] }).tenonGenericEvents ?? [];

describe('generic events, for a hook with full authority', function () {
  this.timeout(120_000);
  let place: PackageFolder;
  let fixture: ProviderFixture;
  let started: readonly string[];

  before(async () => {
    place = await createPackageFolder({
      'service-extension-listener/package.json': createPackageJson('service-extension-listener', {
        type: 'hook',
        path: 'index.js',
      }),
      'service-extension-listener/index.js': HOOK,
    });
    fixture = await startProviderFixture({ env: { EXTENSIONS_PATH: place.path } });
    started = received().filter((event) => /^(cli|app|server)\./.test(event));
    const { database, request, admin } = fixture.service;
    await database.query('create table letters (id serial primary key, sort integer, code text unique)');
    await database.query("insert into letters (sort, code) values (1, 'a'), (2, 'b')");
    await request('PATCH', '/collections/letters', { token: admin.token, body: { meta: { sort_field: 'sort' } } });
  });
  after(async () => {
    await fixture?.stop();
    await place?.remove();
  });

  it('the init events and server.start come once, in their order', () => {
    expect(started).to.deep.equal([
      'cli.before with program',
      'cli.after with program',
      'app.before',
      'app.after',
      'server.start',
    ]);
  });

  const send = (method: string, path: string, body?: object) =>
    fixture.service.request(method, path, { token: fixture.service.admin.token, body });
  const signIn = async () => {
    fixture.server.user = { sub: 'ann', email: 'ann@example.com', email_verified: true };
    expect((await fixture.signIn('oidc')).status).to.equal(200);
  };

  const REQUEST = ['authenticate', 'response'];
  const cases: readonly (readonly [what: string, work: () => Promise<unknown>, events: readonly string[]])[] = [
    ['an answer', () => send('GET', '/server/info'), REQUEST],
    [
      'a path without a route',
      () => send('GET', '/nothing/here'),
      ['authenticate', 'request.not_found', 'request.error', 'response'],
    ],
    ['a refused request', () => send('GET', '/items/nothing'), ['authenticate', 'request.error', 'response']],
    [
      'a write that the database refuses',
      () => send('POST', '/items/letters', { code: 'a' }),
      ['authenticate', 'database.error', 'request.error', 'response'],
    ],
    [
      'a move in the manual order',
      () => send('POST', '/utils/sort/letters', { item: 2, to: 1 }),
      ['authenticate', 'items.sort', 'letters.items.sort', 'response'],
    ],
    // A sign-in by a provider is two requests: to the provider, and back.
    ['the first sign-in by a provider', signIn, [...REQUEST, ...REQUEST, 'auth.create', 'auth.login']],
    ['a further sign-in by a provider', signIn, [...REQUEST, ...REQUEST, 'auth.update', 'auth.login']],
  ];
  for (const [what, work, events] of cases)
    it(`${what} emits ${[...new Set(events)].join(', ')}, each once`, async () => {
      received().splice(0);
      await work();
      // Actions run after the answer; none may come twice.
      await until(() => received().length >= events.length);
      await fixture.service.request('GET', '/server/info');
      await until(() => received().length >= events.length + REQUEST.length);
      expect([...received()].sort()).to.deep.equal([...events, ...REQUEST].sort());
    });
});
