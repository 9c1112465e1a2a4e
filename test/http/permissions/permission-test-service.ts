import { PUBLIC_ROLE_ID } from '../../../plugins/access/contract.ts';
import type { FreshDatabase } from '../../support/database.ts';
import { createSeededRandom, type SeededRandom } from '../../support/random.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../../support/service.ts';
import { requestAsAdmin } from '../test-users.ts';
import { hasCompositeKey, parseKeyColumns } from './keys.ts';
import {
  COLLECTION_NAMES,
  CREATABLE_COLLECTION_NAMES,
  CREATE_TABLES_SQL,
  isSystemCollection,
  PERMISSION_TEST_MODEL,
  REFERENCE_APP_PERMISSIONS,
  tableNameOfCollection,
} from './permission-test-collections.ts';
import { createQueryGenerator, RANDOM_TEXT_WORDS } from './query-generator.ts';
import type {
  CallerPermissions,
  PermissionRow,
  PermissionTestModel,
  PermissionTestRow,
  PermissionTestRowsByCollection,
} from './reference-types.ts';
import { createWriteGenerator } from './write-generator.ts';

export interface TestPerson {
  readonly token: string | undefined;
  readonly callerPermissions: CallerPermissions;
  readonly about: string;
  /** The permissions of the person as stored in the database, for the report of a difference. */
  readonly stored: readonly { readonly action: string; readonly collection: string }[];
  /** Gives the Public role the permissions of this person. Several people share this role, one after the other. */
  enter?(): Promise<void>;
}

/** A running service with random rows, roles and users for the permission tests. */
export interface PermissionTestService {
  readonly service: InProcessService;
  readonly rows: PermissionTestRowsByCollection;
  readonly people: readonly TestPerson[];
  load(): Promise<PermissionTestRowsByCollection>;
  restore(changed: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

const ROLES = 30;
const PUBLIC = 8;

export async function startPermissionTestService(seed: number): Promise<PermissionTestService> {
  const random = createSeededRandom(seed);
  const database = await createMigratedDatabase('drawn_cases');
  const service = await startService({ database }).catch(async (error) => {
    await database.drop();
    throw error;
  });
  const stop = async () => {
    await service.stop();
    await database.drop();
  };
  try {
    await prepare(service, database);
    const people = await createPeople(service, random);
    await fill(database, random, people);
    for (const name of COLLECTION_NAMES)
      await database.query(`create table kept_${name} as table ${tableNameOfCollection(name)}`);
    const load = () => loadAll(database);
    return { service, people, rows: await load(), load, restore: (changed) => restore(database, changed), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Creates the tables and registers the aliases of their relations. */
async function prepare(service: InProcessService, database: FreshDatabase): Promise<void> {
  await database.query(CREATE_TABLES_SQL);
  const meta = { one_collection_field: 'kind', one_allowed_collections: ['team', 'tag'] };
  await requestAsAdmin(service, 'POST', '/relations', { collection: 'block', field: 'item', meta });
  for (const [name, { toMany }] of Object.entries(PERMISSION_TEST_MODEL)) {
    for (const [field, { to, by, deselectAction }] of Object.entries(toMany)) {
      if (isSystemCollection(to)) continue;
      await requestAsAdmin(service, 'POST', `/fields/${tableNameOfCollection(name)}`, {
        field,
        type: 'alias',
        meta: { special: ['o2m'] },
      });
      await requestAsAdmin(service, 'PATCH', `/relations/${to}/${by}`, {
        meta: { one_field: field, ...(deselectAction ? { one_deselect_action: deselectAction } : {}) },
      });
    }
  }
}

interface RolePermissions {
  readonly stored: { collection: string; action: string; fields: readonly string[] }[];
  readonly permissions: Map<string, readonly PermissionRow[]>;
}

/**
 * How random the permissions of a role are: `open` has all, `listed` has all fields on the rows of random rules, so that enough
 * cases are answered; `drawn` has random actions, fields and rules.
 */
type PermissionWidth = 'open' | 'listed' | 'drawn';

function drawPermissions(random: SeededRandom, width: PermissionWidth, app: boolean): RolePermissions {
  const { chance } = random;
  const draw = createQueryGenerator(random);
  const writes = createWriteGenerator(random, draw);
  const stored: RolePermissions['stored'] = [];
  const permissions = new Map<string, readonly PermissionRow[]>();
  for (const collection of COLLECTION_NAMES) {
    for (const action of ['read', 'create', 'update', 'delete'] as const) {
      if (
        !CREATABLE_COLLECTION_NAMES.includes(collection) &&
        !(action === 'read' || (collection === 'users' && action === 'update'))
      )
        continue;
      if (width === 'drawn' && chance(action === 'read' ? (isSystemCollection(collection) ? 0.35 : 0.12) : 0.25))
        continue;
      const isFree = width === 'open' || (width === 'listed' && action !== 'read' && chance(0.45));
      const near = action === 'update' && chance(0.5) ? draw.drawRelatedRule(collection) : undefined;
      const rule = isFree ? null : (near ?? draw.drawRule(collection));
      // Together with the permission of app access, such a field list makes different fields readable on different rows.
      const isBeside = app && isSystemCollection(collection) && chance(0.7);
      const fields = isBeside
        ? draw.drawHalfOfFields(collection)
        : width === 'drawn'
          ? draw.drawFieldList(collection)
          : ['*'];
      const isWrite = action === 'create' || action === 'update';
      const terms = isWrite && width !== 'open' && collection !== 'users' ? writes.drawTerms(collection) : {};
      // The reference gets no row rule for create, since no row exists yet; the service ignores the stored rule.
      permissions.set(`${collection} ${action}`, [{ rule: action === 'create' ? null : rule, fields, ...terms }]);
      stored.push({
        collection: tableNameOfCollection(collection),
        action,
        fields,
        ...{ permissions: rule, ...terms },
      });
    }
  }
  if (app) {
    for (const [key, minimum] of Object.entries(REFERENCE_APP_PERMISSIONS))
      permissions.set(key, [...(permissions.get(key) ?? []), minimum]);
  }
  return { stored, permissions };
}

async function createPeople(service: InProcessService, random: SeededRandom): Promise<TestPerson[]> {
  const { one, chance, upTo } = random;
  const uuid = () => {
    const hex = Array.from({ length: 32 }, () => upTo(16).toString(16)).join('');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  const admin = await requestAsAdmin(service, 'GET', '/users/me?fields=id,role');
  const people: TestPerson[] = [
    {
      token: service.admin.token,
      about: 'admin',
      stored: [],
      callerPermissions: { admin: true, user: admin.id, role: admin.role, permissions: new Map() },
    },
  ];
  const roles = Array.from({ length: ROLES }, (_, at) => {
    const app = at % 3 === 1;
    return {
      id: uuid(),
      user: uuid(),
      token: `token-of-${at}-${uuid()}`,
      app,
      ...drawPermissions(random, at === 0 ? 'open' : at % 5 === 2 ? 'listed' : 'drawn', app),
    };
  });
  await requestAsAdmin(
    service,
    'POST',
    '/roles',
    roles.map(({ id, app }, at) => ({
      id,
      name: `role ${at}`,
      app_access: app,
      description: one([...RANDOM_TEXT_WORDS, null]),
    })),
  );
  const loner = { id: uuid(), token: `token-of-a-loner-${uuid()}` };
  await requestAsAdmin(service, 'POST', '/users', [
    ...roles.map(({ id, user, token }, at) => ({ id: user, role: id, token, email: `${at}@example.com` })),
    { ...loner, email: 'loner@example.com' },
  ]);
  await requestAsAdmin(
    service,
    'POST',
    '/permissions',
    roles.flatMap(({ id, stored }) => stored.map((grant) => ({ ...grant, role: id }))),
  );
  people.push(
    ...roles.map(({ id, user, token, app, stored, permissions }, at) => ({
      token,
      about: `role ${at}${app ? ' with app access' : ''}`,
      stored,
      callerPermissions: { admin: false, user, role: id, permissions },
    })),
  );
  // Callers with the permissions of the Public role: anonymous ones, and a user without a role.
  for (let at = 0; at < PUBLIC; at++) {
    const { stored, permissions } = drawPermissions(random, 'drawn', false);
    const isLoner = at % 4 === 3;
    people.push({
      token: isLoner ? loner.token : undefined,
      about: isLoner ? 'a user without a role' : 'public',
      stored,
      callerPermissions: { admin: false, user: isLoner ? loner.id : null, role: null, permissions },
      async enter() {
        await requestAsAdmin(service, 'DELETE', '/permissions', {
          query: { filter: { role: { _eq: PUBLIC_ROLE_ID } } },
        });
        if (stored.length > 0)
          await requestAsAdmin(
            service,
            'POST',
            '/permissions',
            stored.map((grant) => ({ ...grant, role: null })),
          );
      },
    });
  }
  chance(0);
  return people;
}

async function fill(
  database: FreshDatabase,
  { one, chance, upTo }: SeededRandom,
  people: readonly TestPerson[],
): Promise<void> {
  const users = people.flatMap(({ callerPermissions }) => callerPermissions.user ?? []);
  const roles = people.flatMap(({ callerPermissions }) => callerPermissions.role ?? []);
  const maybe = <T>(value: T) => (chance(0.2) ? null : value);
  const day = 86_400_000;
  const middle = Date.UTC(2026, 5, 15);
  const insert = async (name: string, count: number, row: () => PermissionTestRow) => {
    const rows = Array.from({ length: count }, row);
    const names = Object.keys(rows[0] as PermissionTestRow).map((field) => `"${field}"`);
    await database.query(
      `insert into ${name} (${names}) select ${names} from json_populate_recordset(null::${name}, $1)`,
      [JSON.stringify(rows)],
    );
  };
  await insert('team', 6, () => ({ name: maybe(one(RANDOM_TEXT_WORDS)), level: maybe(1 + upTo(12)) }));
  await insert('person', 16, () => ({
    name: maybe(`${one(RANDOM_TEXT_WORDS)}${one(['', ' a', ' b'])}`),
    secret: maybe(chance(0.2) ? '' : one(RANDOM_TEXT_WORDS)),
    level: maybe(1 + upTo(12)),
    born: maybe(new Date(middle + (upTo(4000) - 2000) * day + upTo(24) * 3_600_000 + 600_000)),
    owner: maybe(one(users)),
    group: maybe(one(roles)),
    team: maybe(1 + upTo(6)),
  }));
  for (let id = 2; id <= 16; id++)
    if (chance(0.8)) await database.query('update person set boss = $2 where id = $1', [id, 1 + upTo(16)]);
  await insert('task', 24, () => ({
    title: maybe(one(RANDOM_TEXT_WORDS)),
    points: maybe(1 + upTo(12)),
    keeper: maybe(one(users)),
    person: maybe(1 + upTo(16)),
  }));
  await insert('tag', 5, () => ({ label: maybe(one(RANDOM_TEXT_WORDS)) }));
  const pairs = new Set<string>();
  while (pairs.size < 30) pairs.add(`${1 + upTo(24)},${1 + upTo(5)}`);
  const left = [...pairs];
  await insert('task_tag', pairs.size, () => ({
    weight: maybe(1 + upTo(12)),
    ...parseKeyColumns(PERMISSION_TEST_MODEL.task_tag as PermissionTestModel[string], left.pop()),
  }));
  await insert('block', 20, () => ({
    note: maybe(one(RANDOM_TEXT_WORDS)),
    kind: maybe(one(['team', 'tag'])),
    // Some of the many-to-any items refer to missing rows.
    item: maybe(String(1 + upTo(7))),
    task: maybe(1 + upTo(24)),
  }));
  await insert('platform_presets', 14, () => ({
    bookmark: maybe(one(RANDOM_TEXT_WORDS)),
    search: maybe(one(RANDOM_TEXT_WORDS)),
    refresh_interval: maybe(1 + upTo(12)),
    user: chance(0.5) ? one(users) : null,
    role: chance(0.5) ? one(roles) : null,
  }));
  for (const name of CREATABLE_COLLECTION_NAMES) await database.query(countOn(name));
  for (const id of users)
    await database.query(
      'update platform_users set first_name = $2, title = $3, location = $4, team = $5 where id = $1',
      [
        id,
        maybe(one(RANDOM_TEXT_WORDS)),
        maybe(one(RANDOM_TEXT_WORDS)),
        maybe(one(RANDOM_TEXT_WORDS)),
        maybe(1 + upTo(6)),
      ],
    );
}

const columnsOf = (name: string): string => {
  const { key, plain, manyToOne, manyToAny } = PERMISSION_TEST_MODEL[name] as PermissionTestModel[string];
  return [...new Set([...key, ...Object.keys({ ...plain, ...manyToOne, ...manyToAny })])]
    .map((field) => `"${field}"`)
    .join(', ');
};

/** SQL that sets the sequence of the key so that new rows get keys above 1000. */
const countOn = (name: string): string =>
  hasCompositeKey(PERMISSION_TEST_MODEL[name] as PermissionTestModel[string])
    ? 'select'
    : `select setval('${tableNameOfCollection(name)}_id_seq', 1000)`;

/** Reads the rows of all collections of the model by one statement. */
async function loadAll(database: FreshDatabase): Promise<PermissionTestRowsByCollection> {
  const parts = COLLECTION_NAMES.map(
    (name) =>
      `'${name}', (select coalesce(json_agg(t order by ${(PERMISSION_TEST_MODEL[name] as PermissionTestModel[string]).key.map((column) => `t.${column}`)}), '[]') from (select ${columnsOf(name)} from ${tableNameOfCollection(name)}) t)`,
  );
  const [found] = await database.query<{ rows: Record<string, PermissionTestRow[]> }>(
    `select json_build_object(${parts.join(', ')}) as rows`,
  );
  const rows = found?.rows as Record<string, PermissionTestRow[]>;
  const person = (rows.person ?? []).map((row) => ({
    ...row,
    born: row.born === null ? null : new Date(row.born as string),
  }));
  return { ...rows, person };
}

/** Restores changed tables from their copies, and resets the sequences of their keys. */
async function restore(database: FreshDatabase, changed: readonly string[]): Promise<void> {
  const parts = changed.map((name) =>
    CREATABLE_COLLECTION_NAMES.includes(name)
      ? `delete from ${tableNameOfCollection(name)}; insert into ${tableNameOfCollection(name)} select * from kept_${name}; ${countOn(name)}`
      : `update ${tableNameOfCollection(name)} t set (${columnsOf(name)}) = (select ${columnsOf(name)} from kept_${name} k where k.id = t.id)`,
  );
  await database.query(
    `set session_replication_role = replica; ${parts.join('; ')}; set session_replication_role = origin`,
  );
}
