import { expect } from 'chai';
import { type InProcessService, startService } from '../support/service.ts';
import { createSharer, createVisitor, prepareShareTables, type TestVisitor } from './share-fixture.ts';
import type { TestPermission } from './test-users.ts';

const SYSTEM = [
  ...[
    'users',
    'roles',
    'permissions',
    'files',
    'folders',
    'presets',
    'notifications',
    'dashboards',
    'panels',
    'translations',
  ],
  ...['comments', 'settings', 'activity', 'revisions', 'shares'],
].map((name) => `platform_${name}`);
const ACTIONS = ['create', 'read', 'update', 'delete', 'share'] as const;
/** Without the permissions that every sharer has. */
const isMissing = ({ collection, action }: TestPermission) =>
  !(collection === 'platform_shares' && action !== 'share') && !(collection === 'article' && /read|share/.test(action));
/** The role may do everything, so that only the share limits its visitors. */
const EVERYTHING: readonly TestPermission[] = ['article', 'author', 'remark', 'tag', 'article_tag', 'diary', ...SYSTEM]
  .flatMap((collection) => ACTIONS.map((action) => ({ collection, action })))
  .filter(isMissing);

const ANY = '00000000-0000-4000-8000-00000000000a';
const row = { title: 'changed' };
/** Method, path, body. */
type Refused = readonly [string, string, unknown?];

const crud = (path: string, key: string, body: object): readonly Refused[] => [
  ['POST', path, body],
  ['POST', path, [body]],
  ['PATCH', path, { keys: [key], data: body }],
  ['PATCH', path, { query: { limit: -1 }, data: body }],
  ['PATCH', `${path}/${key}`, body],
  ['DELETE', path, [key]],
  ['DELETE', path, { query: { filter: {} } }],
  ['DELETE', `${path}/${key}`],
];

/** Reads of what no relation leads to from the shared item, and writes of every kind. */
const REFUSED: readonly Refused[] = [
  ...crud('/items/article', '1', row),
  ...crud('/items/remark', '1', { words: 'changed' }),
  ...crud('/items/diary', '1', { words: 'changed' }),
  ...crud('/files', ANY, { title: 'x', type: 'text/plain' }),
  ...crud('/shares', ANY, { collection: 'article', item: '1' }),
  ...crud('/users', ANY, { email: 'eve@example.com' }),
  ...crud('/comments', '1', { collection: 'article', item: '1', comment: 'x' }),
  ...crud('/permissions', '1', { collection: 'article', action: 'read' }),
  ['POST', '/roles', { name: 'x' }],
  ['POST', '/presets', { bookmark: 'x' }],
  ['POST', '/notifications', { recipient: ANY, subject: 'x' }],
  ['POST', '/dashboards', { name: 'x' }],
  ['POST', '/folders', { name: 'x' }],
  ['POST', '/translations', { key: 'x', language: 'en', value: 'x' }],
  ['PATCH', '/settings', { project_name: 'x' }],
  ['POST', '/activity/comment', { collection: 'article', item: '1', comment: 'x' }],
  ['PATCH', '/users/me', { first_name: 'x' }],
  ['PATCH', '/users/me/track/page', { last_page: '/x' }],
  ['POST', '/files/import', { url: 'http://127.0.0.1:1/x' }],
  ['POST', '/shares/invite', { share: ANY, emails: ['eve@example.com'] }],
  ['POST', '/collections', { collection: 'x', schema: {} }],
  ['PATCH', '/collections/article', { meta: { note: 'x' } }],
  ['DELETE', '/collections/article'],
  ['POST', '/fields/article', { field: 'x', type: 'string' }],
  ['DELETE', '/fields/article/title'],
  ['POST', '/relations', { collection: 'article', field: 'title', related_collection: 'tag' }],
  ['POST', '/utils/cache/clear'],
  ['POST', '/extensions/reload'],
  ['GET', '/extensions'],
  ['GET', '/extensions/audit'],
  ['GET', '/extension-settings?subject=x'],
  ['GET', '/extension-settings/app?subject=x'],
  ['GET', '/queues'],
  ['GET', '/explain/article'],
  ['GET', '/items/article/2'],
  ['GET', '/items/diary'],
  ['SEARCH', '/items/diary', { query: {} }],
  ['GET', '/items/article?filter[secret_of_none][_eq]=1'],
  ['GET', '/items/diary?aggregate[count]=*'],
  ['GET', '/users'],
  ['GET', `/users/${ANY}`],
  ['GET', '/roles'],
  ['GET', '/permissions'],
  ['GET', '/files'],
  ['GET', `/assets/${ANY}`],
  ['GET', '/folders'],
  ['GET', '/presets'],
  ['GET', '/notifications'],
  ['GET', '/dashboards'],
  ['GET', '/panels'],
  ['GET', '/translations'],
  ['GET', '/comments'],
  ['GET', '/settings'],
  ['GET', '/activity'],
  ['GET', '/revisions'],
  ['GET', '/shares'],
  ['GET', '/items/platform_users'],
  ['GET', '/fields/diary'],
  ['GET', '/collections/diary'],
];

const MUTATIONS = [
  'create_article_item(data: { title: "x" }) { id }',
  'update_article_item(id: 1, data: { title: "x" }) { id }',
  'delete_article_item(id: 1) { id }',
];
const SYSTEM_MUTATIONS = [
  'create_users_item(data: { email: "eve@example.com" }) { id }',
  'update_users_me(data: { first_name: "x" }) { id }',
  'create_shares_item(data: { collection: "article", item: "1" }) { id }',
  'create_comment(collection: "article", item: "1", comment: "x") { id }',
  'import_file(url: "http://127.0.0.1:1/x") { id }',
  'update_settings(data: { project_name: "x" }) { id }',
];

describe('requests with the token of a share', () => {
  let service: InProcessService;
  let visitor: TestVisitor;
  before(async function () {
    this.timeout(120_000);
    service = await startService();
    await prepareShareTables(service);
    // The role sees no relation but the remarks.
    const { role } = await createSharer(service, EVERYTHING);
    await service.database.query(
      `update platform_permissions set fields = 'id,title,remarks' where role = $1 and collection = 'article' and action = 'read'`,
      [role],
    );
    await service.database.query(
      `update platform_permissions set fields = 'id,words' where role = $1 and collection = 'remark' and action = 'read'`,
      [role],
    );
    visitor = await createVisitor(service, { role });
  });
  after(() => service?.stop());

  /** The rows of all tables whose rows the requests could change, as one text. */
  async function contents(): Promise<string> {
    const tables = [
      'article',
      'remark',
      'diary',
      ...SYSTEM,
      'platform_collections',
      'platform_fields',
      'platform_relations',
    ];
    const parts = tables.map(
      (name) => `(select coalesce(md5(string_agg(t::text, ',' order by t::text)), '') from ${name} t)`,
    );
    const [found] = await service.database.query<{ text: string }>(
      `select concat_ws(' ', ${parts.join(', ')}) as text`,
    );
    return found?.text as string;
  }

  it('read the shared item and its remarks', async () => {
    const { token } = visitor;
    const { body } = await service.request('GET', '/items/article?fields=*,remarks.*', { token });
    expect(body.data).to.deep.equal([
      {
        id: 1,
        title: 'first',
        remarks: [
          { id: 1, words: 'one' },
          { id: 2, words: 'two' },
        ],
      },
    ]);
  });

  it(`are refused in ${REFUSED.length} other cases by REST, and change nothing`, async function () {
    this.timeout(60_000);
    expect(REFUSED.length).to.be.greaterThan(60);
    const before = await contents();
    const answered: string[] = [];
    for (const [method, path, body] of REFUSED) {
      const { status } = await service.request(method, path, { token: visitor.token, body });
      // Where a user is needed, a caller without one is not signed in.
      if (status !== 403 && status !== 401) answered.push(`${method} ${path} ${JSON.stringify(body)}: ${status}`);
    }
    expect(answered).to.deep.equal([]);
    expect(await contents()).to.equal(before);
  });

  it('an upload is refused before its bytes are stored', async () => {
    const form = new FormData();
    form.append('file', new Blob(['x'], { type: 'text/plain' }), 'x.txt');
    expect((await service.request('POST', '/files', { token: visitor.token, body: form })).status).to.equal(403);
    expect(await service.database.query('select 1 from platform_files')).to.deep.equal([]);
  });

  it('GraphQL has no mutations for them but those of signing in', async () => {
    const before = await contents();
    for (const [path, all] of [
      ['/graphql', MUTATIONS],
      ['/graphql/system', SYSTEM_MUTATIONS],
    ] as const)
      for (const field of all) {
        const body = { query: `mutation { ${field} }` };
        const reply = await service.request('POST', path, { token: visitor.token, body });
        expect(reply.body.errors?.length, field).to.be.greaterThan(0);
        expect(
          Object.values(reply.body.data ?? {}).every((one) => one === null),
          field,
        ).to.equal(true);
      }
    expect(await contents()).to.equal(before);
  });

  it('no read of GraphQL shows a row that REST refuses', async () => {
    for (const [path, query] of [
      ['/graphql', '{ diary { id } }'],
      ['/graphql', '{ author { id } }'],
      ['/graphql', '{ article(filter: { author: { name: { _eq: "Ann" } } }) { id } }'],
      ['/graphql/system', '{ users { id } }'],
      ['/graphql/system', '{ shares { id } }'],
      ['/graphql/system', '{ activity { id } }'],
    ]) {
      const { status } = await service.request('POST', path as string, { token: visitor.token, body: { query } });
      expect([query, status]).to.deep.equal([query, 400]);
    }
    const { body } = await service.request('POST', '/graphql/system', {
      token: visitor.token,
      body: { query: '{ users_me { id } }' },
    });
    expect(JSON.stringify(body)).to.not.match(/"id":"[0-9a-f]/);
  });

  it('a refresh token of a share is no access token, and an access token of a share no refresh token', async () => {
    const refused = await service.request('GET', '/items/article', { token: visitor.refreshToken });
    expect(refused.status).to.equal(401);
    const body = { refresh_token: visitor.token };
    expect((await service.request('POST', '/auth/refresh', { body })).status).to.equal(401);
  });

  it('a token whose claims name more than the share gets the rights of the share', async () => {
    const [header, claims] = visitor.token.split('.') as [string, string];
    const changed = {
      ...JSON.parse(Buffer.from(claims, 'base64url').toString()),
      admin_access: true,
      share: undefined,
    };
    const forged = `${header}.${Buffer.from(JSON.stringify(changed)).toString('base64url')}.${visitor.token.split('.')[2]}`;
    expect((await service.request('GET', '/users', { token: forged })).status).to.equal(403);
  });
});
