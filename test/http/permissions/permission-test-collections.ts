import type { PermissionRow, PermissionTestModel } from './reference-types.ts';

/** The collections of the permission tests, with every kind of relation: also to itself, through a junction, and many-to-any. */
export const PERMISSION_TEST_MODEL: PermissionTestModel = {
  team: {
    key: ['id'],
    plain: { name: 'text', level: 'number' },
    manyToOne: {},
    toMany: { members: { to: 'person', by: 'team' } },
  },
  person: {
    key: ['id'],
    plain: { name: 'text', secret: 'text', level: 'number', born: 'moment', group: 'uuid' },
    manyToOne: { team: 'team', boss: 'person', owner: 'users' },
    toMany: { staff: { to: 'person', by: 'boss' }, tasks: { to: 'task', by: 'person' } },
  },
  task: {
    key: ['id'],
    plain: { title: 'text', points: 'number', keeper: 'uuid' },
    manyToOne: { person: 'person' },
    toMany: {
      tags: { to: 'task_tag', by: 'task', deselectAction: 'delete' },
      blocks: { to: 'block', by: 'task', deselectAction: 'delete' },
    },
  },
  tag: { key: ['id'], plain: { label: 'text' }, manyToOne: {}, toMany: { tasks: { to: 'task_tag', by: 'tag' } } },
  task_tag: {
    key: ['task', 'tag'],
    plain: { weight: 'number' },
    manyToOne: { task: 'task', tag: 'tag' },
    toMany: {},
    cascades: ['task', 'tag'],
  },
  block: {
    key: ['id'],
    plain: { note: 'text', kind: 'text' },
    manyToOne: { task: 'task' },
    toMany: {},
    manyToAny: { item: { by: 'kind', to: ['team', 'tag'] } },
    cascades: ['task'],
  },
  presets: {
    key: ['id'],
    plain: { bookmark: 'text', search: 'text', refresh_interval: 'number' },
    manyToOne: { user: 'users', role: 'roles' },
    toMany: {},
  },
  users: {
    key: ['id'],
    keyType: 'uuid',
    plain: { first_name: 'text', title: 'text', location: 'text', status: 'text', token: 'masked' },
    manyToOne: { team: 'team', role: 'roles' },
    toMany: { people: { to: 'person', by: 'owner' } },
    sensitive: ['role', 'status', 'token'],
  },
  roles: {
    key: ['id'],
    keyType: 'uuid',
    plain: { name: 'text', description: 'text' },
    manyToOne: {},
    toMany: { users: { to: 'users', by: 'role' } },
  },
};

export const CREATE_TABLES_SQL = `
  create table team (id serial primary key, name text, level int);
  create table person (id serial primary key, name text, secret text, level int, born timestamptz, "group" uuid,
    team int references team on delete set null, boss int references person on delete set null,
    owner uuid references platform_users on delete set null);
  create table task (id serial primary key, title text, points int, keeper uuid,
    person int references person on delete set null);
  create table tag (id serial primary key, label text);
  create table task_tag (weight int, task int references task on delete cascade, tag int references tag on delete cascade,
    primary key (task, tag));
  create table block (id serial primary key, note text, kind text, item text, task int references task on delete cascade);
  alter table platform_users add column team int references team on delete set null;
`;

export const COLLECTION_NAMES = Object.keys(PERMISSION_TEST_MODEL);
export const SYSTEM_COLLECTION_NAMES = ['presets', 'users', 'roles'];
/** Whether this is a system collection. Its table has more fields than the model. */
export const isSystemCollection = (name: string): boolean => SYSTEM_COLLECTION_NAMES.includes(name);
/** The collections whose rows the tests also create and delete; rows of the others are only updated. */
export const CREATABLE_COLLECTION_NAMES = COLLECTION_NAMES.filter((name) => name !== 'users' && name !== 'roles');
export const tableNameOfCollection = (name: string): string => (isSystemCollection(name) ? `platform_${name}` : name);
export const collectionPathOf = (name: string): string => (isSystemCollection(name) ? `/${name}` : `/items/${name}`);

const own = { user: { _eq: '$CURRENT_USER' } };
const withoutUser = { user: { _null: true } };

/** The permissions of app access to the system collections of the model. */
export const REFERENCE_APP_PERMISSIONS: Readonly<Record<string, PermissionRow>> = {
  'users read': {
    rule: { id: { _eq: '$CURRENT_USER' } },
    fields: ['id', 'first_name', 'title', 'location', 'status', 'role'],
  },
  'roles read': { rule: { id: { _eq: '$CURRENT_ROLE' } }, fields: ['*'] },
  'presets read': {
    rule: {
      _or: [
        own,
        { _and: [withoutUser, { role: { _eq: '$CURRENT_ROLE' } }] },
        { _and: [withoutUser, { role: { _null: true } }] },
      ],
    },
    fields: ['*'],
  },
  'presets create': { rule: null, fields: ['*'], presets: { user: '$CURRENT_USER' }, validation: own },
  'presets update': { rule: own, fields: ['*'], validation: own },
  'presets delete': { rule: own, fields: ['*'] },
};

/** The tables of all collections that the JSON text of a request names, directly or by a relation. */
export function findRequestTables(question: unknown): ReadonlySet<string> {
  const words = new Set(JSON.stringify(question).match(/\w+|\*/g));
  const found = new Set(COLLECTION_NAMES.filter((name) => words.has(name)));
  const isNamed = (field: string) => words.has(field) || words.has('*');
  for (const name of [...found]) {
    const { manyToOne, toMany } = PERMISSION_TEST_MODEL[name] as PermissionTestModel[string];
    for (const [field, to] of Object.entries(manyToOne)) if (isNamed(field)) found.add(to);
    for (const [field, { to }] of Object.entries(toMany)) if (isNamed(field)) found.add(to);
  }
  for (const { manyToOne, toMany } of Object.values(PERMISSION_TEST_MODEL)) {
    for (const [field, to] of Object.entries(manyToOne)) if (words.has(field)) found.add(to);
    for (const [field, { to }] of Object.entries(toMany)) if (words.has(field)) found.add(to);
  }
  if (words.has('CURRENT_USER') || words.has('CURRENT_ROLE')) for (const name of ['users', 'roles']) found.add(name);
  return new Set([...found].map(tableNameOfCollection));
}
