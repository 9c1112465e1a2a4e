import { createSeededRandom, type SeededRandom } from '../../support/random.ts';

// A data model with every kind of relation, as SQL tables for the service and as rows in memory for the reference.

export type ReferenceTableRow = Readonly<Record<string, unknown>> & { readonly __typename: string };

/** How the values of a column are compared, and which operators it has. */
export type ColumnKind = 'text' | 'number' | 'whole' | 'big' | 'moment' | 'flag' | 'key' | 'other';

export interface ReferenceTable {
  readonly sql: string;
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** Many-to-one columns, with the collection to which they refer. */
  readonly one: Readonly<Record<string, string>>;
  /** One-to-many aliases: the collection of the rows, their foreign key column, and the sort column. */
  readonly many: Readonly<Record<string, { readonly of: string; readonly by: string; readonly order?: string }>>;
  /** Many-to-any columns: `by` is the column that names the collection of the key. */
  readonly any: Readonly<Record<string, { readonly by: string; readonly of: readonly string[] }>>;
  /** Fields with functions, and the group of functions that each has. */
  readonly functions: Readonly<Record<string, 'date' | 'time' | 'datetime' | 'count' | 'json'>>;
  readonly singleton?: true;
}

const NO_RELATIONS = { one: {}, many: {}, any: {}, functions: {} } as const;

export const REFERENCE_TABLES: Readonly<Record<string, ReferenceTable>> = {
  person: {
    ...NO_RELATIONS,
    sql: 'create table person (id int primary key, name text not null, nick text, born date, boss int references person)',
    columns: { id: 'key', name: 'text', nick: 'text', born: 'moment' },
    one: { boss: 'person' },
    many: { staff: { of: 'person', by: 'boss' }, posts: { of: 'post', by: 'author' } },
    functions: { born: 'date', staff: 'count', posts: 'count' },
  },
  post: {
    ...NO_RELATIONS,
    sql: `create table post (id int primary key, title text not null, body text, status varchar(20) default 'draft',
      author int references person, published timestamptz, clock time, views bigint, price numeric(10, 2), rating double precision,
      rank int, pinned boolean, code uuid, meta jsonb, list int[])`,
    columns: {
      id: 'key',
      title: 'text',
      body: 'text',
      status: 'text',
      published: 'moment',
      clock: 'moment',
      views: 'big',
      price: 'number',
      rating: 'number',
      rank: 'whole',
      pinned: 'flag',
      code: 'key',
      meta: 'other',
      list: 'other',
    },
    one: { author: 'person' },
    many: {
      notes: { of: 'note', by: 'post' },
      tags: { of: 'post_tag', by: 'post', order: 'place' },
      parts: { of: 'part', by: 'post', order: 'place' },
    },
    functions: {
      published: 'datetime',
      clock: 'time',
      notes: 'count',
      tags: 'count',
      parts: 'count',
      meta: 'json',
      list: 'count',
    },
  },
  note: {
    ...NO_RELATIONS,
    sql: 'create table note (id int primary key, text text not null, score int, post int references post)',
    columns: { id: 'key', text: 'text', score: 'whole' },
    one: { post: 'post' },
  },
  tag: {
    ...NO_RELATIONS,
    sql: 'create table tag (id text primary key, label text)',
    columns: { id: 'key', label: 'text' },
    many: { posts: { of: 'post_tag', by: 'tag' } },
    functions: { posts: 'count' },
  },
  post_tag: {
    ...NO_RELATIONS,
    sql: 'create table post_tag (id int primary key, post int references post, tag text references tag, place int)',
    columns: { id: 'key', place: 'whole' },
    one: { post: 'post', tag: 'tag' },
  },
  heading: {
    ...NO_RELATIONS,
    sql: 'create table heading (id int primary key, text text not null, level int)',
    columns: { id: 'key', text: 'text', level: 'whole' },
  },
  picture: {
    ...NO_RELATIONS,
    sql: 'create table picture (id uuid primary key, url text, taken date, owner int references person)',
    columns: { id: 'key', url: 'text', taken: 'moment' },
    one: { owner: 'person' },
    functions: { taken: 'date' },
  },
  part: {
    ...NO_RELATIONS,
    sql: 'create table part (id int primary key, post int references post, kind varchar(20), item varchar(64), place int)',
    columns: { id: 'key', kind: 'text', place: 'whole' },
    one: { post: 'post' },
    any: { item: { by: 'kind', of: ['heading', 'picture'] } },
  },
  site: {
    ...NO_RELATIONS,
    sql: 'create table site (id int primary key, title text not null, owner int references person)',
    columns: { id: 'key', title: 'text' },
    one: { owner: 'person' },
    singleton: true,
  },
};

const WORDS = ['amber', 'birch', 'cedar', 'dune', 'ember', 'fjord', 'grove', 'haze'] as const;
const JSONS = [{ a: [1, { b: 'x' }], c: null }, [1, 'two', [3]], 'plain', 5, false, {}, [], null] as const;
const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const pad = (n: number) => String(n).padStart(2, '0');

/** Generates the rows of all tables, the same in every run, with many null values. */
export function createReferenceRows(): ReadonlyMap<string, readonly ReferenceTableRow[]> {
  const random: SeededRandom = createSeededRandom(20_260_101);
  const maybe = <T>(value: T, share = 0.75): T | null => (random.chance(share) ? value : null);
  const word = () => random.one(WORDS);
  const words = () => `${word()} "${word()}"\n\\ ${word()}`;
  const day = () => `20${pad(20 + random.upTo(6))}-${pad(1 + random.upTo(12))}-${pad(1 + random.upTo(28))}`;
  const clock = () => `${pad(random.upTo(24))}:${pad(random.upTo(60))}:${pad(random.upTo(60))}`;
  const from = (keys: readonly unknown[]) => maybe(random.one(keys), 0.85);
  const all = new Map<string, readonly ReferenceTableRow[]>();
  const fill = (name: string, count: number, row: (n: number) => object) =>
    all.set(
      name,
      Array.from({ length: count }, (_, at) => ({ __typename: name, ...row(at + 1) })),
    );
  const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

  fill('person', 8, (id) => ({
    id,
    name: `${word()} ${word()}`,
    nick: maybe(random.chance(0.3) ? '' : word()),
    born: maybe(day()),
    boss: id === 1 ? null : maybe(1 + random.upTo(id - 1)),
  }));
  fill('post', 16, (id) => ({
    id,
    title: `${word()} ${word()}`,
    body: maybe(random.chance(0.2) ? '' : words()),
    status: maybe(random.one(['draft', 'published', 'archived']), 0.9),
    author: from(upTo(8)),
    published: maybe(`${day()}T${clock()}.${pad(random.upTo(90) + 10)}0Z`),
    clock: maybe(clock()),
    views: maybe(random.chance(0.3) ? `9007199254740${900 + id}` : String(random.upTo(50))),
    price: maybe(random.upTo(40) / 4),
    rating: maybe(random.one([0.1, -2.5, 1e21, 1e-7, 3, 123456789.125])),
    rank: maybe(random.upTo(5)),
    pinned: maybe(random.chance(0.5)),
    code: maybe(uuid(100 + id)),
    meta: random.one(JSONS),
    list: maybe([1, -2, null].slice(random.upTo(4))),
  }));
  fill('note', 30, (id) => ({ id, text: words(), score: maybe(random.upTo(6)), post: from(upTo(16)) }));
  fill('tag', 5, (n) => ({ id: WORDS[n], label: maybe(word()) }));
  const tags = upTo(5).map((n) => WORDS[n]);
  fill('post_tag', 24, (id) => ({ id, post: from(upTo(16)), tag: from(tags), place: maybe(random.upTo(4)) }));
  fill('heading', 6, (id) => ({ id, text: word(), level: maybe(random.upTo(4)) }));
  fill('picture', 5, (n) => ({ id: uuid(n), url: maybe(`/${word()}`), taken: maybe(day()), owner: from(upTo(8)) }));
  fill('part', 26, (id) => {
    const kind = maybe(random.one(['heading', 'picture', 'heading', 'picture', 'person']), 0.9);
    // Some keys name missing rows.
    const item = kind === 'picture' ? uuid(1 + random.upTo(6)) : String(1 + random.upTo(7));
    return { id, post: from(upTo(16)), kind, item: maybe(item, 0.9), place: maybe(random.upTo(4)) };
  });
  fill('site', 1, () => ({ id: 7, title: 'Tree line', owner: 3 }));
  return all;
}
