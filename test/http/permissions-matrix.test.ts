import { expect } from 'chai';
import { PUBLIC_ROLE } from '../../plugins/access/contract.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { seeded } from '../support/random.ts';
import { type InProcess, startService } from '../support/service.ts';
import { asAdmin, personWith } from './people.ts';
import {
  type Allowed,
  type Asked,
  type Eyes,
  type Filter,
  type Model,
  type Nested,
  Reference,
  Refused,
  type Row,
} from './permissions-reference.ts';

const { upTo, one, chance } = seeded(20261121);

const MODEL: Model = {
  team: {
    key: 'id',
    plain: { name: 'text', level: 'number' },
    ones: {},
    manys: { members: { to: 'person', by: 'team' } },
  },
  person: {
    key: 'id',
    plain: { name: 'text', secret: 'text', level: 'number', born: 'moment', owner: 'uuid', group: 'uuid' },
    ones: { team: 'team', boss: 'person' },
    manys: { staff: { to: 'person', by: 'boss' }, tasks: { to: 'task', by: 'person' } },
  },
  task: {
    key: 'id',
    plain: { title: 'text', points: 'number', owner: 'uuid' },
    ones: { person: 'person' },
    manys: { tags: { to: 'task_tag', by: 'task' } },
  },
  tag: { key: 'id', plain: { label: 'text' }, ones: {}, manys: { tasks: { to: 'task_tag', by: 'tag' } } },
  task_tag: { key: 'id', plain: { weight: 'number' }, ones: { task: 'task', tag: 'tag' }, manys: {} },
};
const NAMES = Object.keys(MODEL);
const WORDS = ['ant', 'bee', 'cat', 'dog', 'eel', 'fox', 'gnu', 'hen'];

const filterOf = (name: string, depth: number, isRule: boolean): Filter => {
  const { key, plain, ones, manys } = MODEL[name] as Model[string];
  const relations = depth > 0 ? [...Object.keys(ones), ...Object.keys(manys)] : [];
  if (depth > 0 && chance(0.25)) {
    return { [one(['_and', '_or'])]: [filterOf(name, depth - 1, isRule), filterOf(name, depth - 1, isRule)] };
  }
  if (relations.length > 0 && chance(0.5)) {
    const field = one(relations);
    if (ones[field]) {
      if (chance(0.2)) return { [field]: { _null: chance(0.5) } };
      return { [field]: filterOf(ones[field], depth - 1, isRule) };
    }
    if (chance(0.15)) return { [field]: { _null: chance(0.5) } };
    const inner = filterOf(manys[field]?.to as string, depth - 1, isRule);
    // Only fields of the rows may stand under an alias without a quantifier.
    const bare = !Object.keys(inner).some((word) => word.startsWith('_'));
    const form = one(bare ? ['_some', '_none', 'bare'] : ['_some', '_none']);
    return { [field]: form === 'bare' ? inner : { [form]: inner } };
  }
  const field = one([key, ...Object.keys(plain), ...Object.keys(ones)]);
  const type = plain[field] ?? 'number';
  if (chance(0.15)) return { [field]: { _null: chance(0.5) } };
  switch (type) {
    case 'text': {
      const word = isRule && chance(0.3) ? one(['$CURRENT_USER.title', '$CURRENT_ROLE.description']) : one(WORDS);
      if (word.startsWith('$')) return { [field]: { [one(['_eq', '_neq', '_contains', '_ncontains'])]: word } };
      return one([
        { [field]: { [one(['_eq', '_neq', '_contains', '_ncontains', '_starts_with'])]: word } },
        { [field]: { [one(['_in', '_nin'])]: [word, one(WORDS)] } },
        { [field]: { _empty: chance(0.5) } },
      ]);
    }
    case 'uuid': {
      const me = field === 'group' ? '$CURRENT_ROLE' : '$CURRENT_USER';
      return one<Filter>([
        { [field]: { _eq: me } },
        { [field]: { _neq: me } },
        { [field]: { [one(['_in', '_nin'])]: [me] } },
        { [field]: { _nin: [me, PUBLIC_ROLE] } },
      ]);
    }
    case 'moment':
      return { [field]: { [one(['_lt', '_gt'])]: '$NOW' } };
    default: {
      const number = 1 + upTo(12);
      return one<Filter>([
        { [field]: { [one(['_eq', '_neq', '_gt', '_lt'])]: number } },
        { [field]: { [one(['_in', '_nin'])]: [number, 1 + upTo(12)] } },
        { [field]: { [one(['_between', '_nbetween'])]: [number, number + upTo(6)] } },
      ]);
    }
  }
};

const rule = (name: string): Filter | null => (chance(0.3) ? null : filterOf(name, upTo(3), true));

function fieldsOf(name: string): string[] {
  const { key, plain, ones, manys } = MODEL[name] as Model[string];
  const all = [key, ...Object.keys(plain), ...Object.keys(ones), ...Object.keys(manys)];
  const without = (some: readonly string[]) => all.filter((field) => !some.includes(field));
  return one<string[]>([
    ['*'],
    ['*'],
    all.filter(() => chance(0.7)),
    without([key]),
    without(Object.keys(ones)),
    without(Object.keys(manys)),
    chance(0.3) ? [] : all,
  ]);
}

const nestedOf = (name: string, depth: number): Nested => {
  const { key, plain, ones, manys } = MODEL[name] as Model[string];
  if (chance(0.3)) return { '*': true };
  const fields = [key, ...Object.keys(plain), ...Object.keys(ones), ...Object.keys(manys)].filter(() => chance(0.5));
  const wanted = fields.map((field): [string, true | Nested] => {
    const to = ones[field] ?? manys[field]?.to;
    return [field, to && depth > 0 && chance(0.6) ? nestedOf(to, depth - 1) : true];
  });
  return wanted.length > 0 ? Object.fromEntries(wanted) : { [key]: true };
};

const pathsOf = (nested: Nested, before = ''): string[] =>
  Object.entries(nested).flatMap(([name, more]) =>
    more === true ? [before + name] : pathsOf(more, `${before}${name}.`),
  );

function sortOf(name: string): string {
  const path: string[] = [];
  let at = MODEL[name] as Model[string];
  while (Object.keys(at.ones).length > 0 && path.length < 2 && chance(0.5)) {
    const step = one(Object.keys(at.ones));
    path.push(step);
    at = MODEL[at.ones[step] as string] as Model[string];
  }
  return `${chance(0.5) ? '-' : ''}${[...path, one([at.key, ...Object.keys(at.plain), ...Object.keys(at.ones)])].join('.')}`;
}

function askedOf(name: string): Asked {
  return {
    fields: nestedOf(name, 2),
    ...(chance(0.5) ? { filter: filterOf(name, upTo(3), false) } : {}),
    ...(chance(0.4) ? { sort: sortOf(name) } : {}),
    ...(chance(0.2) ? { search: one([...WORDS, 'a', '3', '7']) } : {}),
    ...(chance(0.3) ? { limit: upTo(6), offset: upTo(4) } : {}),
  };
}

const queryOf = ({ fields, filter, sort, search, limit = -1, offset }: Asked): Record<string, unknown> => ({
  fields: pathsOf(fields),
  limit,
  meta: '*',
  ...(filter ? { filter } : {}),
  ...(sort === undefined ? {} : { sort }),
  ...(search === undefined ? {} : { search }),
  ...(offset === undefined ? {} : { offset }),
});

interface Someone {
  readonly token: string | undefined;
  readonly eyes: Eyes;
  readonly about: string;
  /** What a create adds and demands. */
  readonly writing: ReadonlyMap<string, { presets: Row; validation: Filter | null }>;
  enter?(): Promise<void>;
}

describe('every answer agrees with a plain evaluation of the permissions', () => {
  let database: FreshDatabase;
  let service: InProcess;
  let rows: Record<string, Row[]> = {};
  const people: Someone[] = [];

  const load = async () =>
    Object.fromEntries(
      await Promise.all(
        NAMES.map(async (name) => [name, await database.query<Row>(`select * from ${name} order by id`)]),
      ),
    ) as Record<string, Row[]>;

  function grantsOf(): { stored: object[]; permissions: Map<string, Allowed[]>; writing: Someone['writing'] } {
    const permissions = new Map<string, Allowed[]>();
    const writing = new Map<string, { presets: Row; validation: Filter | null }>();
    const stored: object[] = [];
    for (const collection of NAMES) {
      for (const action of ['read', 'create', 'update', 'delete'] as const) {
        if (chance(action === 'read' ? 0.12 : 0.3)) continue;
        const [permission, fields] = [rule(collection), fieldsOf(collection)];
        const number = MODEL[collection]?.plain.level
          ? 'level'
          : MODEL[collection]?.plain.points
            ? 'points'
            : undefined;
        const presets: Row = number && chance(0.4) ? { [number]: 5 } : {};
        const validation: Filter | null = number && chance(0.4) ? { [number]: { _lt: 9 } } : null;
        const isWrite = action === 'create' || action === 'update';
        permissions.set(`${collection} ${action}`, [{ rule: action === 'create' ? null : permission, fields }]);
        if (isWrite) writing.set(`${collection} ${action}`, { presets, validation });
        stored.push({
          collection,
          action,
          permissions: permission,
          fields,
          ...(isWrite ? { presets, validation } : {}),
        });
      }
    }
    return { stored, permissions, writing };
  }

  before(async function () {
    this.timeout(60_000);
    database = await freshDatabase('hostile_matrix');
    await database.query(`
      create table team (id serial primary key, name text, level int);
      create table person (id serial primary key, name text, secret text, level int, born timestamptz, owner uuid, "group" uuid,
        team int references team on delete set null, boss int references person on delete set null);
      create table task (id serial primary key, title text, points int, owner uuid, person int references person on delete set null);
      create table tag (id serial primary key, label text);
      create table task_tag (id serial primary key, weight int, task int references task on delete cascade, tag int references tag on delete cascade);
    `);
    service = await startService({ database });
    for (const [name, { manys }] of Object.entries(MODEL)) {
      for (const [field, { to, by }] of Object.entries(manys)) {
        await asAdmin(service, 'POST', `/fields/${name}`, { field, type: 'alias', meta: { special: ['o2m'] } });
        await asAdmin(service, 'PATCH', `/relations/${to}/${by}`, { meta: { one_field: field } });
      }
    }
    const admin = await asAdmin(service, 'GET', '/users/me?fields=id,role');
    people.push({
      token: service.admin.token,
      about: 'admin',
      writing: new Map(),
      eyes: { admin: true, user: admin.id, role: admin.role, paths: {}, permissions: new Map() },
    });
    for (let count = 0; count < 22; count++) {
      const { stored, permissions, writing } = grantsOf();
      const [title, description] = [one([...WORDS, null]), one([...WORDS, null])];
      const person = await personWith(service, stored as never, { description });
      await asAdmin(service, 'PATCH', `/users/${person.id}`, { title });
      const paths = { '$CURRENT_USER.title': title, '$CURRENT_ROLE.description': description };
      const eyes = { admin: false, user: person.id, role: person.role, paths, permissions };
      people.push({ token: person.token, about: `role ${count} ${JSON.stringify(stored)}`, eyes, writing });
    }
    // Public: several sets of permissions one after the other; and somebody signed in who has no role.
    const token = 'a-token-of-somebody-without-a-role';
    const loner = await asAdmin(service, 'POST', '/users', { email: 'loner@example.com', token });
    for (let count = 0; count < 8; count++) {
      const { stored, permissions, writing } = grantsOf();
      const enter = async () => {
        await asAdmin(service, 'DELETE', '/permissions', { query: { filter: { role: { _eq: PUBLIC_ROLE } } } });
        await asAdmin(
          service,
          'POST',
          '/permissions',
          stored.map((grant) => ({ ...grant, role: null })),
        );
      };
      const eyes = { admin: false, user: count % 4 === 3 ? loner.id : null, role: null, paths: {}, permissions };
      people.push({
        token: eyes.user ? token : undefined,
        about: `public ${count} ${JSON.stringify(stored)}`,
        eyes,
        writing,
        enter,
      });
    }
    const users = people.flatMap(({ eyes }) => eyes.user ?? []);
    const roles = people.flatMap(({ eyes }) => eyes.role ?? []);
    const maybe = <T>(value: T) => (chance(0.2) ? null : value);
    const insert = async (name: string, count: number, row: () => Row) => {
      for (let at = 0; at < count; at++) {
        const entries = Object.entries(row());
        const names = entries.map(([field]) => `"${field}"`).join(', ');
        await database.query(
          `insert into ${name} (${names}) values (${entries.map((_, i) => `$${i + 1}`).join(', ')})`,
          entries.map(([, value]) => value),
        );
      }
    };
    await insert('team', 6, () => ({ name: maybe(one(WORDS)), level: maybe(1 + upTo(12)) }));
    await insert('person', 16, () => ({
      name: maybe(`${one(WORDS)}${one(['', ' a', ' b'])}`),
      secret: maybe(chance(0.2) ? '' : one(WORDS)),
      level: maybe(1 + upTo(12)),
      born: maybe(new Date(Date.now() + (upTo(200) - 100) * 86_400_000)),
      owner: maybe(one(users)),
      group: maybe(one(roles)),
      team: maybe(1 + upTo(6)),
    }));
    for (let id = 2; id <= 16; id++)
      if (chance(0.8)) await database.query('update person set boss = $2 where id = $1', [id, 1 + upTo(16)]);
    await insert('task', 24, () => ({
      title: maybe(one(WORDS)),
      points: maybe(1 + upTo(12)),
      owner: maybe(one(users)),
      person: maybe(1 + upTo(16)),
    }));
    await insert('tag', 5, () => ({ label: maybe(one(WORDS)) }));
    await insert('task_tag', 30, () => ({
      weight: maybe(1 + upTo(12)),
      task: maybe(1 + upTo(24)),
      tag: maybe(1 + upTo(5)),
    }));
    for (const name of NAMES) await database.query(`create table kept_${name} as table ${name}`);
    rows = await load();
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  async function restore(): Promise<void> {
    await database.query(`truncate ${NAMES.join(', ')} restart identity;
      set session_replication_role = replica;
      ${NAMES.map((name) => `insert into ${name} select * from kept_${name}; select setval('${name}_id_seq', 1000)`).join('; ')};
      set session_replication_role = origin`);
  }

  async function reads(count: number): Promise<number> {
    let refused = 0;
    for (const someone of people) {
      await someone.enter?.();
      const reference = new Reference(MODEL, rows, someone.eyes);
      for (let at = 0; at < count; at++) {
        const name = one(NAMES);
        const asked = askedOf(name);
        const query = queryOf(asked);
        const told = `${someone.about}\nSEARCH ${name} ${JSON.stringify(query)}`;
        const reply = await service.request('SEARCH', `/items/${name}`, { token: someone.token, body: { query } });
        const expected = answer(() => reference.list(name, asked));
        if (!expected) {
          refused++;
          expect([reply.status, reply.body.errors?.[0].extensions.code], told).to.deep.equal([403, 'FORBIDDEN']);
          continue;
        }
        expect(reply.status, `${told}\n${JSON.stringify(reply.body)}`).to.equal(200);
        expect(reply.body, told).to.deep.equal({
          data: expected.data,
          meta: { total_count: expected.total, filter_count: expected.filtered },
        });
        const row = one(rows[name] as Row[]);
        const single = await service.request('GET', `/items/${name}/${row.id}?fields=${pathsOf(asked.fields)}`, {
          token: someone.token,
        });
        const mayRead = reference.of(name, 'read').length > 0 && reference.touches(name, 'read', row);
        expect(single.status, `${told}\nGET ${row.id}`).to.equal(mayRead ? 200 : 403);
        if (mayRead)
          expect(single.body.data, `${told}\nGET ${row.id}`).to.deep.equal(reference.shown(name, asked.fields, row));
      }
    }
    return refused;
  }

  it('in 1,200 reads: lists, nested rows, filters, sorting, search, counts, single rows', async function () {
    this.timeout(60_000);
    const refused = await reads(40);
    // A matrix in which everything is refused, or nothing, would show nothing.
    expect(refused).to.be.within(200, 900);
  });

  it('in 500 updates and deletes: what may not be touched stays as it was', async function () {
    this.timeout(60_000);
    let done = 0;
    for (const someone of people) {
      await someone.enter?.();
      const reference = new Reference(MODEL, rows, someone.eyes);
      for (let at = 0; at < 16; at++) {
        const name = one(NAMES);
        const action = one(['update', 'update', 'delete'] as const);
        const { plain } = MODEL[name] as Model[string];
        const table = rows[name] as Row[];
        const data = Object.fromEntries(
          Object.entries(plain)
            .filter(([, type]) => (type === 'text' || type === 'number') && chance(0.6))
            .map(([field, type]) => [field, type === 'text' ? 'changed' : one([3, 20])]),
        );
        const byQuery = chance(0.4);
        const filter = filterOf(name, upTo(2), false);
        const keys = [...new Set(Array.from({ length: 1 + upTo(2) }, () => one(table).id as number))];
        const selection = byQuery ? { query: { filter } } : { keys };
        const body = action === 'update' ? { ...selection, data } : selection;
        const told = `${someone.about}\n${action} ${name} ${JSON.stringify(body)}`;

        const { presets, validation } = someone.writing.get(`${name} ${action}`) ?? { presets: {}, validation: null };
        const expected = answer((): Row[] => {
          const granted = reference.of(name, action);
          const hit = byQuery
            ? matched(reference, name, filter)
            : table.filter((row) => keys.includes(row.id as number));
          if (hit.length === 0) return table;
          if (granted.length === 0 || !hit.every((row) => reference.touches(name, action, row))) throw new Refused();
          if (action === 'delete') return table.filter((row) => !hit.includes(row));
          if (!Object.keys(data).every((field) => granted.some((grant) => reference.lists(grant, name, field))))
            throw new Refused();
          const written = { ...presets, ...data };
          if (validation && Object.entries(validation).some(([field]) => (written[field] as number) >= 9))
            throw new Refused();
          return table.map((row) => (hit.includes(row) ? { ...row, ...written } : row));
        });
        const reply = await service.request(action === 'update' ? 'PATCH' : 'DELETE', `/items/${name}`, {
          token: someone.token,
          body,
        });
        const after = await load();
        if (expected) {
          done++;
          expect(reply.status, `${told}\n${JSON.stringify(reply.body)}`).to.be.oneOf([200, 204]);
          expect(after[name]?.map(ownColumns), told).to.deep.equal(expected.map(ownColumns));
        } else {
          expect(reply.status, told).to.be.oneOf([400, 403]);
          expect(after, told).to.deep.equal(rows);
        }
        if (JSON.stringify(after) !== JSON.stringify(rows)) await restore();
      }
    }
    expect(done).to.be.greaterThan(60);
  });

  it('in 300 creates: field lists, presets, validation, and what of the new row is shown', async function () {
    this.timeout(60_000);
    let done = 0;
    for (const someone of people) {
      await someone.enter?.();
      const reference = new Reference(MODEL, rows, someone.eyes);
      for (let at = 0; at < 10; at++) {
        const name = one(NAMES);
        const { plain, ones } = MODEL[name] as Model[string];
        const data: Record<string, unknown> = {};
        for (const [field, type] of Object.entries(plain)) if (type === 'text' && chance(0.4)) data[field] = 'new';
        for (const [field, type] of Object.entries(plain))
          if (type === 'number' && chance(0.4)) data[field] = one([3, 20]);
        for (const field of Object.keys(ones)) if (chance(0.3)) data[field] = 1;
        const told = `${someone.about}\ncreate ${name} ${JSON.stringify(data)}`;
        const { presets, validation } = someone.writing.get(`${name} create`) ?? { presets: {}, validation: null };
        const granted = reference.of(name, 'create');
        const written = { ...presets, ...data };
        const isRefused =
          granted.length === 0 ||
          !Object.keys(data).every((field) => granted.some((grant) => reference.lists(grant, name, field))) ||
          (validation !== null && Object.keys(validation).some((field) => (written[field] as number) >= 9));
        const reply = await service.request('POST', `/items/${name}`, { token: someone.token, body: data });
        const after = await load();
        if (isRefused) {
          expect(reply.status, told).to.be.oneOf([400, 403]);
          expect(after, told).to.deep.equal(rows);
          continue;
        }
        done++;
        const made = after[name]?.at(-1) as Row;
        expect(made, told).to.include(written);
        const now = new Reference(MODEL, after, someone.eyes);
        const shown = now.of(name, 'read').length > 0 && now.touches(name, 'read', made);
        expect(reply.status, `${told}\n${JSON.stringify(reply.body)}`).to.equal(shown ? 200 : 204);
        if (shown) expect(reply.body.data, told).to.deep.equal(now.shown(name, { '*': true }, made));
        await restore();
      }
    }
    expect(done).to.be.greaterThan(60);
  });

  /** Foreign keys of other rows change with a deleted one; what they become is the database's own business. */
  const ownColumns = (row: Row): Row =>
    Object.fromEntries(
      Object.entries(row).filter(([field]) => !['team', 'boss', 'person', 'task', 'tag'].includes(field)),
    );

  /** The rows a by-query write means: those its filter finds among the rows the caller can read. */
  function matched(reference: Reference, name: string, filter: Filter): Row[] {
    if (reference.of(name, 'read').length === 0) throw new Refused();
    reference.checkFilter(name, filter);
    return (rows[name] as Row[]).filter(
      (row) => reference.touches(name, 'read', row) && reference.holds(name, filter, row, true) === true,
    );
  }
});

/** Undefined where it has to be refused. */
function answer<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}
