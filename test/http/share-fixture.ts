import type { HttpReply } from '../support/send.ts';
import type { RunningTestService } from '../support/service.ts';
import {
  createUserWithPermissions,
  requestAsAdmin,
  type TestPermission,
  type TestUserWithToken,
} from './test-users.ts';

/** Articles with an author, comments, tags through a junction, blocks of two kinds, an image, and rows with a composite key. */
export const SHARE_TABLES_SQL = `
  create table author (id serial primary key, name text);
  create table article (id serial primary key, title text, secret text, state text default 'public',
    author int references author on delete set null, image uuid references platform_files on delete set null);
  create table remark (id serial primary key, words text, state text default 'public', article int references article on delete cascade);
  create table tag (id serial primary key, label text);
  create table article_tag (id serial primary key, article int references article on delete cascade, tag int references tag on delete cascade);
  create table heading (id serial primary key, words text);
  create table quote (id uuid primary key default gen_random_uuid(), words text);
  create table block (id serial primary key, kind text, item text, article int references article on delete cascade);
  create table price (article int references article on delete cascade, country text, amount int, primary key (article, country));
  create table discount (id serial primary key, percent int, article int, country text,
    foreign key (article, country) references price on delete cascade);
  create table diary (id serial primary key, words text);
`;

export const SHARE_ROWS_SQL = `
  insert into author (name) values ('Ann'), ('Bob');
  insert into article (title, secret, author) values ('first', 's1', 1), ('second', 's2', 1), ('third', 's3', 2);
  insert into remark (words, state, article) values ('one', 'public', 1), ('two', 'hidden', 1), ('three', 'public', 2);
  insert into tag (label) values ('red'), ('blue'), ('green');
  insert into article_tag (article, tag) values (1, 1), (1, 2), (3, 3);
  insert into heading (words) values ('of the first'), ('of the third');
  insert into quote (id, words) values ('00000000-0000-4000-8000-000000000001', 'of the first'), ('00000000-0000-4000-8000-000000000002', 'of none');
  insert into block (kind, item, article) values ('heading', '1', 1), ('quote', '00000000-0000-4000-8000-000000000001', 1), ('heading', '2', 3);
  insert into price (article, country, amount) values (1, 'at', 10), (1, 'de', 11), (3, 'at', 30);
  insert into discount (percent, article, country) values (5, 1, 'at'), (6, 3, 'at');
  insert into diary (words) values ('private');
`;

const ALIASES = [
  ['author', 'articles', 'article', 'author'],
  ['article', 'remarks', 'remark', 'article'],
  ['article', 'tags', 'article_tag', 'article'],
  ['article', 'blocks', 'block', 'article'],
  ['article', 'prices', 'price', 'article'],
] as const;

/** Creates the tables with their aliases and rows. */
export async function prepareShareTables(service: RunningTestService): Promise<void> {
  await service.database.query(SHARE_TABLES_SQL);
  await service.database.query(SHARE_ROWS_SQL);
  const meta = { one_collection_field: 'kind', one_allowed_collections: ['heading', 'quote'] };
  await requestAsAdmin(service, 'POST', '/relations', { collection: 'block', field: 'item', meta });
  for (const [collection, field, many, by] of ALIASES) {
    await requestAsAdmin(service, 'POST', `/fields/${collection}`, {
      field,
      type: 'alias',
      meta: { special: ['o2m'] },
    });
    await requestAsAdmin(service, 'PATCH', `/relations/${many}/${by}`, { meta: { one_field: field } });
  }
}

export const readAll = (...collections: readonly string[]): readonly TestPermission[] =>
  collections.map((collection) => ({ collection, action: 'read' }));

/** What a user needs to share articles. */
export const SHARER_PERMISSIONS: readonly TestPermission[] = [
  ...['create', 'read', 'update', 'delete'].map(
    (action) => ({ collection: 'platform_shares', action }) as TestPermission,
  ),
  { collection: 'article', action: 'share' },
  ...readAll('article'),
];

/** Creates a user with a role that may share articles and has these permissions. */
export const createSharer = (
  service: RunningTestService,
  permissions: readonly TestPermission[] = [],
): Promise<TestUserWithToken> => createUserWithPermissions(service, [...SHARER_PERMISSIONS, ...permissions]);

export interface TestVisitor {
  readonly share: string;
  readonly token: string;
  readonly refreshToken: string;
}

export const signInByShare = (service: RunningTestService, share: string, more: object = {}): Promise<HttpReply> =>
  service.request('POST', '/shares/auth', { body: { share, ...more } });

/** Creates a share as the first admin and signs a visitor in. */
export async function createVisitor(
  service: RunningTestService,
  { role, collection = 'article', item = '1' }: { role: string | null; collection?: string; item?: string },
): Promise<TestVisitor> {
  const { id } = await requestAsAdmin(service, 'POST', '/shares', { collection, item, role });
  const { status, body } = await signInByShare(service, id);
  if (status !== 200) throw new Error(`POST /shares/auth: ${status} ${JSON.stringify(body)}`);
  return { share: id, token: body.data.access_token, refreshToken: body.data.refresh_token };
}
