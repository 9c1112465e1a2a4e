import { expect } from 'chai';
import { type InProcessService, startService } from '../support/service.ts';
import { type ConfinedPackageFolder, createConfinedPackageFolder, listExtensions } from './confined-packages.ts';
import { requestAsAdmin } from './test-users.ts';

const SYSTEM_EVENTS = ['users.create', 'users.update', 'users.delete', 'roles.update'];
const PASSWORD = 'a password that is unique';

/** The code of a confined hook that rejects, changes or keeps a payload, depending on a field of the payload. */
const CODE = `
  const say = (host, text, value) => host.log.info(text, { seen: JSON.stringify(value) });
  const own = {
    'users.create'(payload, meta, { host }) {
      say(host, 'filter', payload);
      if (payload.title === 'refuse') throw new Error();
      if (payload.title === 'change') return { ...payload, title: 'changed' };
      return payload;
    },
    'users.update': (payload, meta, { accountability }) =>
      payload.title === 'raise' ? { ...payload, role: accountability.role } : payload,
    'users.delete': (keys, meta, { accountability }) => [accountability.user],
    'roles.update': (payload) => ({ ...payload, admin_access: true }),
  };
  const articles = (payload, meta, { host, accountability }) => {
    say(host, 'article', payload);
    const evil = { email: 'evil@example.com', password: 'evil enough', role: accountability.role };
    const { title } = payload;
    if (title === 'one') return { ...payload, author: evil };
    if (title === 'key') return { ...payload, author: { ...evil, id: payload.author.id } };
    if (title === 'inner') return { ...payload, notes: [{ text: 'x', writer: evil }] };
    if (title === 'changes') return { ...payload, notes: { create: [{ writer: evil }], update: [], delete: [] } };
    return { ...payload, title: title + '!' };
  };
  export default { id: 'rows', filters: { ...own, 'articles.items.create': articles },
    actions: { 'users.create': (meta, { host }) => say(host, 'action', meta) } };`;

describe('confined hooks on system rows', () => {
  let packages: ConfinedPackageFolder;
  let service: InProcessService;
  before(async function () {
    this.timeout(120_000);
    packages = await createConfinedPackageFolder();
    const events = { filter: [...SYSTEM_EVENTS, 'articles.items.create'], action: ['users.create'] };
    await packages.put('service-extension-rows', { type: 'hook', events, capabilities: { log: true } }, CODE);
    service = await startService({ env: { EXTENSIONS_PATH: packages.path, LOG_LEVEL: 'info' } });
    expect((await listExtensions(service))['service-extension-rows']?.status).to.equal('loaded');
    const [text, user] = [(field: string) => ({ field, type: 'string' }), { type: 'uuid' }];
    for (const [collection, fields] of [
      [
        'articles',
        [text('title'), { field: 'author', ...user }, { field: 'pin', type: 'string', meta: { special: ['conceal'] } }],
      ],
      ['notes', [text('text'), { field: 'article', type: 'integer' }, { field: 'writer', ...user }]],
    ] as const)
      await requestAsAdmin(service, 'POST', '/collections', { collection, schema: {}, fields });
    const alias = { field: 'notes', type: 'alias', meta: { special: ['o2m'] } };
    await requestAsAdmin(service, 'POST', '/fields/articles', alias);
    for (const [collection, field, related_collection, one_field] of [
      ['articles', 'author', 'platform_users', null],
      ['notes', 'writer', 'platform_users', null],
      ['notes', 'article', 'articles', 'notes'],
    ])
      await requestAsAdmin(service, 'POST', '/relations', {
        collection,
        field,
        related_collection,
        meta: { one_field },
      });
  });
  after(async () => {
    await service?.stop();
    await packages?.remove();
  });

  const send = (method: string, path: string, body?: unknown) =>
    service.request(method, path, { token: service.admin.token, body });
  const count = async (from: string) =>
    Number((await service.database.query<{ n: string }>(`select count(*) n from ${from}`))[0]?.n);
  const seen = async (text: string): Promise<string> => {
    for (
      const deadline = Date.now() + 30_000;
      Date.now() < deadline;
      await new Promise((next) => setTimeout(next, 10))
    ) {
      const line = service.log.findLast(({ msg }) => msg === text) as { meta?: { seen: string } } | undefined;
      if (line?.meta) return line.meta.seen;
    }
    throw new Error(`nothing was said of ${text}`);
  };
  const blocked = async (method: string, path: string, body?: unknown) => {
    const { status, body: answer } = await send(method, path, body);
    expect([status, answer.errors?.[0].extensions.code], JSON.stringify([body, answer])).to.deep.equal([
      500,
      'INTERNAL_SERVER_ERROR',
    ]);
  };

  it('a hook sees passwords and tokens masked, and they are stored unchanged', async () => {
    const body = { email: 'ann@example.com', password: PASSWORD, token: 'a token that is unique' };
    expect((await send('POST', '/users', body)).status).to.equal(200);
    for (const text of ['filter', 'action']) {
      expect(await seen(text))
        .to.include('ann@example.com')
        .and.not.include('that is unique');
    }
    const login = await service.request('POST', '/auth/login', { body: { email: body.email, password: PASSWORD } });
    expect(login.status).to.equal(200);
    expect(await count(`platform_users where token = '${body.token}'`)).to.equal(1);
  });

  it('a filter may reject a write of system rows but not change it', async () => {
    await blocked('POST', '/users', { email: 'ben@example.com', title: 'refuse' });
    await blocked('POST', '/users', { email: 'ben@example.com', title: 'change' });
    expect(await count(`platform_users where email = 'ben@example.com'`)).to.equal(0);
    const { id } = await requestAsAdmin(service, 'POST', '/users', { email: 'ben@example.com' });
    expect((await send('PATCH', `/users/${id}`, { title: 'kept' })).body.data.title).to.equal('kept');
    await blocked('PATCH', `/users/${id}`, { title: 'raise' });
    const admins = await count('platform_users where role is not null');
    await blocked('DELETE', `/users/${id}`);
    expect(await count('platform_users where role is not null')).to.equal(admins);
    const role = await requestAsAdmin(service, 'POST', '/roles', { name: 'Plain' });
    await blocked('PATCH', `/roles/${role.id}`, { name: 'Plainer' });
    expect(await count(`platform_roles where name like 'Plain%' and admin_access`)).to.equal(0);
  });

  it('a filter cannot add nested system rows to a write', async () => {
    const [ben] = await service.database.query<{ id: string }>(`select id from platform_users where email like 'ben%'`);
    for (const title of ['one', 'inner', 'changes']) await blocked('POST', '/items/articles', { title });
    await blocked('POST', '/items/articles', { title: 'key', author: { id: ben?.id } });
    expect(await count(`platform_users where email = 'evil@example.com'`)).to.equal(0);
    expect(await count('articles')).to.equal(0);
  });

  it('a filter changes other fields and keeps nested system rows of the caller', async () => {
    const author = { email: 'cleo@example.com', password: PASSWORD };
    const created = await requestAsAdmin(service, 'POST', '/items/articles?fields=*,author.email', {
      title: 'fine',
      author,
      pin: 'pin 1234',
    });
    expect([created.title, created.author.email]).to.deep.equal(['fine!', author.email]);
    expect(await seen('article'))
      .to.include('cleo@')
      .and.not.include(PASSWORD)
      .and.not.include('pin 1234');
    expect((await service.database.query('select pin from articles'))[0]).to.deep.equal({ pin: 'pin 1234' });
    expect((await service.request('POST', '/auth/login', { body: author })).status).to.equal(200);
  });
});
