import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import {
  type ExtensionSettings,
  extensionSettings,
  type SettingsOwner,
} from '../../plugins/extension-settings/contract.ts';
import {
  createTestPermission,
  createTestUserAccount,
  createUserSender,
  errorCodeOf,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
  type TestUserAccount,
} from '../plugins/users/test-users.ts';
import { freshDatabase } from '../support/database.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { type TestComposition, writeTestPluginPackages } from '../support/test-plugins.ts';

const PATH = '/extension-settings';
const CHAT = 'service-extension-chat';
const MASK = '**********';
const REFUSED = [400, 'INVALID_PAYLOAD'];
const FORBIDDEN = [403, 'FORBIDDEN'];

const SETTINGS = {
  room: { type: 'string', appReadable: true },
  limit: { type: 'number', appReadable: true },
  is_on: { type: 'boolean' },
  token: { type: 'string', secret: {} },
  password: { type: 'string', secret: { source: 'config' } },
  title: { type: 'string', scope: 'collection', appReadable: true },
  key: { type: 'string', scope: 'collection', secret: {} },
};

const global = { subject: CHAT, scope: 'global', scope_key: '' };
const ofCollection = { subject: CHAT, scope: 'collection', scope_key: 'articles' };

describe('/extension-settings', () => {
  let thirdParty: TestComposition;
  let settings: ExtensionSettings;
  let service: InProcessService;
  let ask: SendAsUser;
  let app: TestUserAccount;
  let user: TestUserAccount;
  let chat: SettingsOwner;

  const owner = (name: string, raw: unknown, id = name): SettingsOwner => {
    const { problems, declaration } = settings.parseDeclaration(raw);
    expect(problems).to.deep.equal([]);
    return { id, name, declaration };
  };
  const starting = (env: Record<string, string>, more: object = {}) =>
    startService({
      env: { EXTENSIONS_PATH: `${thirdParty.folder}/local`, LOG_LEVEL: 'warn', ...env },
      ...more,
    });
  const stored = () =>
    service.database.query('select key, value from platform_extension_settings order by scope, scope_key, key');
  const put = async (body: object) => {
    const reply = await ask('POST', PATH, { ...global, ...body });
    expect([reply.status, reply.body]).to.deep.equal([200, { data: null }]);
  };

  before(async function () {
    this.timeout(120_000);
    // In the service the plugin `extensions` registers the owners of settings. Here a plugin of the test does.
    thirdParty = await writeTestPluginPackages([
      {
        name: 'loader',
        thirdParty: true,
        manifest: { uses: { extensionSettings: '^1.0.0' } },
        register(host) {
          settings = host.use({ extensionSettings }).extensionSettings;
        },
      },
    ]);
    service = await starting({
      SECRETS_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      SERVICE_EXT_CHAT_PASSWORD: 'of the environment',
    });
    ask = createUserSender(service, service.admin.token);
    const fields = [{ field: 'word', type: 'string' }];
    for (const collection of ['articles', 'hidden', 'doomed']) {
      expect((await ask('POST', '/collections', { collection, schema: {}, fields })).status).to.equal(200);
    }
    const readers = await makeRole(service, { app_access: true });
    await createTestPermission(service, readers, {
      collection: 'articles',
      action: 'read',
      permissions: { word: { _eq: 'x' } },
    });
    app = await createTestUserAccount(service, readers);
    user = await createTestUserAccount(service, await makeRole(service));
    chat = owner(CHAT, SETTINGS);
  });
  after(async () => {
    await service?.stop();
    await thirdParty?.remove();
  });
  beforeEach(async () => {
    await service.database.query('truncate platform_extension_settings');
    settings.setOwners([chat]);
  });

  it('POST stores values, and GET lists them with secrets masked', async () => {
    await put({ key: 'room', value: 'lobby' });
    await put({ key: 'room', value: 'attic' });
    await put({ key: 'limit', value: 1.5 });
    await put({ key: 'is_on', value: false });
    await put({ key: 'token', value: 'a secret' });
    await put({ ...ofCollection, key: 'title', value: '{{word}}' });
    const row = { scope: 'global', scope_key: '' };
    const all = [
      { scope: 'collection', scope_key: 'articles', key: 'title', value: '{{word}}' },
      { ...row, key: 'is_on', value: false },
      { ...row, key: 'limit', value: 1.5 },
      { ...row, key: 'room', value: 'attic' },
      { ...row, key: 'token', value: MASK },
    ];
    const list = async (more = '') => (await ask('GET', `${PATH}?subject=${CHAT}${more}`)).body;
    expect(await list()).to.deep.equal({ data: all });
    expect(await list('&scope=collection')).to.deep.equal({ data: all.slice(0, 1) });
    expect(await list('&scope=global')).to.deep.equal({ data: all.slice(1) });
    expect(await list('&scope_key=articles')).to.deep.equal({ data: all.slice(0, 1) });
    expect(await list('&scope_key=')).to.deep.equal({ data: all.slice(1) });
    expect((await ask('GET', `${PATH}/?subject=service-extension-unknown`)).body).to.deep.equal({ data: [] });
    expect(JSON.stringify(await stored())).not.to.contain('a secret');
  });

  it('every route accepts a trailing slash', async () => {
    expect((await ask('POST', `${PATH}/`, { ...global, key: 'room', value: 'x' })).status).to.equal(200);
    expect((await ask('GET', `${PATH}/owners/`)).status).to.equal(200);
    expect((await ask('GET', `${PATH}/app/?subject=${CHAT}`)).status).to.equal(200);
    expect((await ask('DELETE', `${PATH}/`, { subject: CHAT })).body).to.deep.equal({ data: { removed: 1 } });
  });

  it('GET rejects invalid query parameters', async () => {
    for (const query of ['', '?subject=', `?subject[]=${CHAT}`, '?subject[a]=b', `?scope=global`]) {
      expect(statusAndCodeOf(await ask('GET', PATH + query)), query).to.deep.equal(REFUSED);
      expect(statusAndCodeOf(await ask('GET', `${PATH}/app${query}`)), query).to.deep.equal(REFUSED);
    }
    for (const query of ['scope=', 'scope=user', 'scope[]=global', 'scope_key[]=x', 'scope_key[a]=x']) {
      expect(statusAndCodeOf(await ask('GET', `${PATH}?subject=${CHAT}&${query}`)), query).to.deep.equal(REFUSED);
    }
    expect(statusAndCodeOf(await ask('GET', `${PATH}/app?subject=${CHAT}&collection[]=x`))).to.deep.equal(REFUSED);
  });

  it('POST rejects values that do not fit the declaration', async () => {
    const right = { ...global, key: 'room', value: 'x' };
    for (const body of [undefined, null, [], [right], 'x', {}, { ...right, more: 1 }]) {
      expect(statusAndCodeOf(await ask('POST', PATH, body)), JSON.stringify(body)).to.deep.equal(REFUSED);
    }
    for (const name of Object.keys(right)) {
      const { [name as 'key']: _gone, ...rest } = right;
      expect(statusAndCodeOf(await ask('POST', PATH, rest)), name).to.deep.equal(REFUSED);
      if (name === 'value') continue;
      for (const value of [null, 1, ['x'], {}]) {
        expect(statusAndCodeOf(await ask('POST', PATH, { ...right, [name]: value })), name).to.deep.equal(REFUSED);
      }
    }
    for (const wrong of [
      { key: 'undeclared' },
      { key: '' },
      { key: 'constructor' },
      { key: '__proto__' },
      { key: 'title' },
      { key: 'title', scope: 'collection' },
      { key: 'title', scope: 'collection', scope_key: 'nowhere' },
      { key: 'title', scope: 'collection', scope_key: 'articles\u0000' },
      { key: 'title', scope: 'collection', scope_key: 'platform_extension_settings' },
      { scope: 'collection', scope_key: 'articles' },
      { scope: 'user' },
      { scope_key: 'articles' },
      { value: 1 },
      { value: null },
      { value: true },
      { value: ['x'] },
      { value: {} },
      { key: 'limit', value: '1' },
      { key: 'is_on', value: 1 },
      { key: 'is_on', value: 'true' },
    ]) {
      expect(statusAndCodeOf(await ask('POST', PATH, { ...right, ...wrong })), JSON.stringify(wrong)).to.deep.equal(
        REFUSED,
      );
    }
    const infinite = JSON.stringify({ ...right, key: 'limit', value: 0 }).replace('"value":0', '"value":1e999');
    expect(
      statusAndCodeOf(await ask('POST', PATH, infinite, { headers: { 'content-type': 'application/json' } })),
    ).to.deep.equal(REFUSED);
    expect(await stored()).to.deep.equal([]);
  });

  it('POST rejects the mask and secrets of the configuration', async () => {
    for (const value of [MASK, 5, null]) {
      expect(statusAndCodeOf(await ask('POST', PATH, { ...global, key: 'token', value }))).to.deep.equal(REFUSED);
    }
    for (const value of ['x', MASK, 5]) {
      expect(statusAndCodeOf(await ask('POST', PATH, { ...global, key: 'password', value }))).to.deep.equal(REFUSED);
    }
    await put({ key: 'room', value: MASK });
    await put({ key: 'token', value: '' });
    expect(await settings.createReader(chat).get('token')).to.equal('');
  });

  it('POST answers FORBIDDEN for a package that is missing or unavailable', async () => {
    const write = (subject: string) => ask('POST', PATH, { ...global, subject, key: 'room', value: 'x' });
    for (const subject of ['', 'service-extension-unknown', `${CHAT} `, 'x'.repeat(1000)]) {
      expect(statusAndCodeOf(await write(subject)), subject).to.deep.equal(FORBIDDEN);
    }
    await put({ key: 'room', value: 'kept' });
    settings.setOwners([chat, { ...chat, id: 'twin' }]);
    expect(statusAndCodeOf(await write(CHAT))).to.deep.equal(FORBIDDEN);
    expect((await ask('GET', `${PATH}?subject=${CHAT}`)).body.data).to.have.length(1);
    expect((await app.ask('GET', `${PATH}/app?subject=${CHAT}`)).body).to.deep.equal({ data: {} });
    expect(await settings.createReader(chat).get('room')).to.equal(null);
    settings.setOwners([chat]);
    expect(await settings.createReader(chat).get('room')).to.equal('kept');
  });

  it('GET /extension-settings/owners lists packages with their availability', async () => {
    const collides = {
      a_b: { type: 'string', secret: { source: 'config' } },
      a__b: { type: 'string', secret: { source: 'config' } },
    };
    settings.setOwners([
      chat,
      owner('Chat\n', SETTINGS),
      owner('service-extension-keys', collides),
      owner(CHAT, SETTINGS, 'twin'),
    ]);
    const { body } = await ask('GET', `${PATH}/owners`);
    expect(
      body.data.map((one: { displaySubject: string; status: string; reason?: { code: string } }) => [
        one.displaySubject,
        one.status,
        one.reason?.code,
      ]),
    ).to.deep.equal([
      [CHAT, 'unavailable', 'SETTINGS_SUBJECT_DUPLICATE'],
      ['Chat?', 'unavailable', 'SETTINGS_SUBJECT_INVALID'],
      ['service-extension-keys', 'unavailable', 'SETTINGS_SUBJECT_CONFIG_COLLISION'],
      [CHAT, 'unavailable', 'SETTINGS_SUBJECT_DUPLICATE'],
    ]);
    for (const one of body.data) expect(one).to.have.all.keys('displaySubject', 'status', 'reason');
    expect(JSON.stringify(body)).not.to.contain('SERVICE_EXT');
    expect(JSON.stringify(service.log)).to.contain('SERVICE_EXT_KEYS_A_B');
    settings.setOwners([chat]);
    expect((await ask('GET', `${PATH}/owners`)).body).to.deep.equal({
      data: [
        {
          subject: CHAT,
          displaySubject: CHAT,
          status: 'available',
          declaration: settings.parseDeclaration(SETTINGS).declaration,
        },
      ],
    });
  });

  it('DELETE removes one value or all values of a package', async () => {
    await put({ key: 'room', value: 'x' });
    await put({ key: 'limit', value: 1 });
    await put({ key: 'token', value: 'x' });
    await put({ ...ofCollection, key: 'title', value: 'x' });
    const removed = async (body: unknown) => (await ask('DELETE', PATH, body)).body?.data?.removed;
    expect(await removed({ ...global, key: 'room' })).to.equal(1);
    expect(await removed({ ...global, key: 'room' })).to.equal(0);
    expect(await removed({ ...global, key: 'title' })).to.equal(0);
    expect(await removed({ subject: '' })).to.equal(0);
    // The stored values of an extension that is removed can still be deleted.
    settings.setOwners([]);
    expect(
      (await ask('GET', `${PATH}?subject=${CHAT}`)).body.data.map((one: { value: unknown }) => one.value),
    ).to.deep.equal(['x', 1, MASK]);
    expect(await removed({ ...ofCollection, key: 'title' })).to.equal(1);
    expect(await removed({ subject: CHAT })).to.equal(2);
    for (const body of [
      undefined,
      null,
      [],
      {},
      [CHAT],
      { subject: 5 },
      { subject: null },
      { subject: CHAT, scope: 'global' },
      { subject: CHAT, key: 'room' },
      { ...global },
      { ...global, key: 'room', value: 'x' },
      { ...global, key: 5 },
      { ...global, key: 'room', scope: 'user' },
      { scope: 'global', scope_key: '', key: 'room' },
    ]) {
      expect(statusAndCodeOf(await ask('DELETE', PATH, body)), JSON.stringify(body)).to.deep.equal(REFUSED);
    }
  });

  it('every admin route answers FORBIDDEN to other callers, also for invalid requests', async () => {
    for (const one of [app.ask, user.ask, createUserSender(service, null)]) {
      expect(statusAndCodeOf(await one('GET', PATH))).to.deep.equal(FORBIDDEN);
      expect(statusAndCodeOf(await one('GET', `${PATH}?subject=${CHAT}`))).to.deep.equal(FORBIDDEN);
      expect(statusAndCodeOf(await one('GET', `${PATH}/owners`))).to.deep.equal(FORBIDDEN);
      expect(statusAndCodeOf(await one('POST', PATH, { ...global, key: 'room', value: 'x' }))).to.deep.equal(FORBIDDEN);
      expect(statusAndCodeOf(await one('POST', PATH, {}))).to.deep.equal(FORBIDDEN);
      expect(statusAndCodeOf(await one('DELETE', PATH, { subject: CHAT }))).to.deep.equal(FORBIDDEN);
      expect(statusAndCodeOf(await one('DELETE', PATH))).to.deep.equal(FORBIDDEN);
    }
    expect(statusAndCodeOf(await ask('PATCH', PATH, {}))).to.deep.equal([404, 'ROUTE_NOT_FOUND']);
    expect(statusAndCodeOf(await ask('GET', `${PATH}/others`))).to.deep.equal([404, 'ROUTE_NOT_FOUND']);
  });

  it('GET /extension-settings/app answers only keys with appReadable', async () => {
    await put({ key: 'room', value: 'lobby' });
    await put({ key: 'is_on', value: true });
    await put({ key: 'token', value: 'a secret' });
    await put({ ...ofCollection, key: 'title', value: 'of articles' });
    await put({ ...ofCollection, scope_key: 'hidden', key: 'title', value: 'of hidden' });
    await put({ ...ofCollection, key: 'key', value: 'a secret' });
    const read = async (who: SendAsUser, query = '') => (await who('GET', `${PATH}/app?subject=${CHAT}${query}`)).body;
    expect(await read(app.ask)).to.deep.equal({ data: { room: 'lobby' } });
    expect(await read(app.ask, '&collection=articles')).to.deep.equal({
      data: { room: 'lobby', title: 'of articles' },
    });
    for (const collection of ['hidden', 'nowhere', '']) {
      expect(await read(app.ask, `&collection=${collection}`), collection).to.deep.equal({ data: { room: 'lobby' } });
    }
    expect(await read(ask, '&collection=hidden')).to.deep.equal({ data: { room: 'lobby', title: 'of hidden' } });
    for (const one of [user.ask, createUserSender(service, null)]) {
      expect(statusAndCodeOf(await one('GET', `${PATH}/app?subject=${CHAT}`))).to.deep.equal(FORBIDDEN);
      expect(statusAndCodeOf(await one('GET', `${PATH}/app`))).to.deep.equal(FORBIDDEN);
    }
    expect((await app.ask('GET', `${PATH}/app?subject=service-extension-unknown`)).body).to.deep.equal({ data: {} });
    // A later version declares other types for the same keys.
    settings.setOwners([
      owner(CHAT, {
        room: { type: 'number', appReadable: true },
        token: { type: 'string', appReadable: true },
        limit: { type: 'number', appReadable: true },
        title: { type: 'string', appReadable: true },
      }),
    ]);
    expect(await read(ask, '&collection=articles')).to.deep.equal({ data: {} });
  });

  it('GET masks a stored secret also after its declaration changed or its package is removed', async () => {
    await put({ key: 'token', value: 'a secret' });
    await put({ key: 'room', value: 'in the clear' });
    const seen = async () =>
      (await ask('GET', `${PATH}?subject=${CHAT}`)).body.data.map((one: { key: string; value: unknown }) => [
        one.key,
        one.value,
      ]);
    const changed = owner(CHAT, { token: { type: 'string' }, room: { type: 'string', secret: {} } });
    settings.setOwners([changed]);
    expect(await seen()).to.deep.equal([
      ['room', MASK],
      ['token', MASK],
    ]);
    expect([
      await settings.createReader(changed).get('room'),
      await settings.createReader(changed).get('token'),
    ]).to.deep.equal([null, null]);
    settings.setOwners([]);
    expect(await seen()).to.deep.equal([
      ['room', 'in the clear'],
      ['token', MASK],
    ]);
  });

  it('GET leaves out rows whose value cannot be parsed', async () => {
    await put({ key: 'room', value: 'x' });
    await put({ key: 'limit', value: 1 });
    await service.database.query(`update platform_extension_settings set value = '{' where key = 'limit'`);
    expect((await ask('GET', `${PATH}?subject=${CHAT}`)).body.data).to.have.length(1);
    expect(await settings.createReader(chat).get('limit')).to.equal(null);
    expect(
      service.log.filter((line) => line.key === 'limit' && /cannot be read/.test(String(line.msg))),
    ).not.to.deep.equal([]);
  });

  it('the values of a collection are deleted with the collection', async () => {
    await put({ ...ofCollection, scope_key: 'doomed', key: 'title', value: 'x' });
    await put({ ...ofCollection, key: 'title', value: 'y' });
    expect((await ask('DELETE', '/collections/doomed')).status).to.equal(204);
    expect(await stored()).to.deep.equal([{ key: 'title', value: '"y"' }]);
  });

  it('two concurrent writes of one key leave one row', async () => {
    const values = Array.from({ length: 8 }, (_one, at) => at);
    await Promise.all(values.map((value) => put({ key: 'limit', value })));
    expect(await stored()).to.have.length(1);
  });

  it('the activity records the caller and the key of a change, but not the value', async () => {
    await service.database.query('delete from platform_activity');
    await put({ key: 'token', value: 'a secret' });
    await put({ ...ofCollection, key: 'title', value: 'a title' });
    await ask('DELETE', PATH, { ...global, key: 'token' });
    await ask('DELETE', PATH, { ...global, key: 'token' });
    await ask('DELETE', PATH, { subject: CHAT });
    const rows = await service.database.query(
      'select action, collection, item, comment from platform_activity order by id',
    );
    const row = { collection: 'platform_extension_settings', comment: null };
    expect(rows).to.deep.equal([
      { ...row, action: 'update', item: `${CHAT}/token` },
      { ...row, action: 'update', item: `${CHAT}/articles/title` },
      { ...row, action: 'delete', item: `${CHAT}/token` },
      { ...row, action: 'delete', item: CHAT },
    ]);
  });

  it('no other API reads or writes the settings table', async () => {
    const table = 'platform_extension_settings';
    expect(errorCodeOf(await ask('GET', `/items/${table}`))).to.equal('FORBIDDEN');
    expect(errorCodeOf(await ask('GET', `/collections/${table}`))).to.equal('ROUTE_NOT_FOUND');
    expect(JSON.stringify((await ask('GET', '/collections')).body)).not.to.contain(table);
  });

  describe('context.extensionSettings.get', () => {
    it('it answers values, and secrets in plain text', async () => {
      await put({ key: 'room', value: 'lobby' });
      await put({ key: 'limit', value: 2 });
      await put({ key: 'is_on', value: false });
      await put({ key: 'token', value: 'a sécret' });
      await put({ ...ofCollection, key: 'title', value: 'of articles' });
      await put({ ...ofCollection, key: 'key', value: 'deep' });
      const { get } = settings.createReader(chat);
      const seen = [
        await get('room'),
        await get('limit'),
        await get('is_on'),
        await get('token'),
        await get('password'),
      ];
      expect(seen).to.deep.equal(['lobby', 2, false, 'a sécret', 'of the environment']);
      const articles = { scope: 'collection', collection: 'articles' } as const;
      expect([await get('title', articles), await get('key', articles)]).to.deep.equal(['of articles', 'deep']);
      expect([
        await get('title'),
        await get('room', articles),
        await get('title', { scope: 'collection', collection: 'hidden' }),
        await get('title', { scope: 'collection', collection: 'a\u0000' }),
        await get('title', { scope: 'collection' } as never),
        await get('undeclared'),
        await get('constructor'),
        await get(undefined as never),
        await get('room', { scope: 'user' } as never),
      ]).to.deep.equal(Array(9).fill(null));
    });

    it('it answers null for a key that is not set or has a value of another type', async () => {
      await put({ key: 'limit', value: 2 });
      const changed = owner(CHAT, { ...SETTINGS, limit: { type: 'string' } });
      settings.setOwners([changed]);
      const { get } = settings.createReader(changed);
      expect([await get('limit'), await get('room'), await get('token')]).to.deep.equal([null, null, null]);
    });

    it('it opens a secret only at the location where it was stored', async () => {
      await put({ key: 'token', value: 'a secret' });
      await put({ ...ofCollection, key: 'key', value: 'deep' });
      const other = owner('service-extension-thief', { token: { type: 'string', secret: {} } });
      settings.setOwners([chat, other]);
      await service.database.query(
        `insert into platform_extension_settings (extension, scope, scope_key, key, value)
        select 'service-extension-thief', scope, scope_key, key, value from platform_extension_settings where key = 'token'`,
      );
      expect(await settings.createReader(other).get('token')).to.equal(null);
      expect(await settings.createReader(chat).get('token')).to.equal('a secret');
      expect((await ask('GET', `${PATH}?subject=${other.name}`)).body.data[0].value).to.equal(MASK);
      await service.database.query(
        `update platform_extension_settings set value = replace(value, '"ct":"', '"ct":"AA') where key = 'key'`,
      );
      const deep = await settings.createReader(chat).get('key', { scope: 'collection', collection: 'articles' });
      expect(deep).to.equal(null);
      expect(service.log.some((line) => line.key === 'key' && /entered again/.test(String(line.msg)))).to.equal(true);
    });
  });
});

describe('/extension-settings without SECRETS_ENCRYPTION_KEY', () => {
  it('POST stores values but rejects secrets, and stored secrets cannot be opened', async function () {
    this.timeout(120_000);
    const database = await freshDatabase('settings_key');
    let settings: ExtensionSettings | undefined;
    const thirdParty = await writeTestPluginPackages([
      {
        name: 'loader',
        thirdParty: true,
        manifest: { uses: { extensionSettings: '^1.0.0' } },
        register(host) {
          settings = host.use({ extensionSettings }).extensionSettings;
        },
      },
    ]);
    const run = async (key: string | undefined, work: (ask: SendAsUser, owner: SettingsOwner) => Promise<void>) => {
      const env = { EXTENSIONS_PATH: `${thirdParty.folder}/local` };
      const service = await startService({ database, env: key ? { ...env, SECRETS_ENCRYPTION_KEY: key } : env });
      try {
        const { parseDeclaration, setOwners } = settings as ExtensionSettings;
        const owner = { id: 'chat', name: CHAT, declaration: parseDeclaration(SETTINGS).declaration };
        setOwners([owner]);
        await work(createUserSender(service, service.admin.token), owner);
      } finally {
        await service.stop();
      }
    };
    const secret = { ...global, key: 'token', value: 'a secret' };
    const read = (owner: SettingsOwner) => (settings as ExtensionSettings).createReader(owner).get('token');
    const listed = async (ask: SendAsUser) => (await ask('GET', `${PATH}?subject=${CHAT}`)).body.data;
    const key = randomBytes(32).toString('base64');
    try {
      await run(key, async (ask, owner) => {
        expect((await ask('POST', PATH, secret)).status).to.equal(200);
        expect(await read(owner)).to.equal('a secret');
      });
      await run(undefined, async (ask, owner) => {
        expect(statusAndCodeOf(await ask('POST', PATH, secret))).to.deep.equal([503, 'INVALID_CONFIG']);
        for (const wrong of [{ value: 5 }, { value: MASK }, { key: 'password' }, { scope_key: 'x' }]) {
          expect(statusAndCodeOf(await ask('POST', PATH, { ...secret, ...wrong }))).to.deep.equal(REFUSED);
        }
        expect((await ask('POST', PATH, { ...global, key: 'room', value: 'x' })).status).to.equal(200);
        expect(await read(owner)).to.equal(null);
        expect((await listed(ask))[1]).to.deep.include({ key: 'token', value: MASK });
      });
      await run(randomBytes(32).toString('base64'), async (ask, owner) => {
        expect(await read(owner)).to.equal(null);
        expect((await ask('POST', PATH, { ...secret, value: 'anew' })).status).to.equal(200);
        expect(await read(owner)).to.equal('anew');
      });
    } finally {
      await thirdParty.remove();
      await database.drop();
    }
  });
});
