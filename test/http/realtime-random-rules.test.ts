import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createSeededRandom, type SeededRandom } from '../support/random.ts';
import { openSocket, type RealtimeTestClient } from '../support/realtime-client.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { ReferenceFilterEvaluator } from './permissions/reference-conditions.ts';
import type { PermissionTestFilter, PermissionTestModel, PermissionTestRow } from './permissions/reference-types.ts';
import { requestAsAdmin } from './test-users.ts';

const RULES = Number(process.env.REALTIME_RULES ?? 120);
const CHANGES = Number(process.env.REALTIME_CHANGES ?? 25);
const SEED = Number(process.env.REALTIME_SEED ?? 1);

const MODEL: PermissionTestModel = {
  thing: {
    key: ['id'],
    plain: { size: 'number', kind: 'text', owner: 'uuid' },
    manyToOne: { team: 'team' },
    toMany: {},
  },
  team: { key: ['id'], plain: { name: 'text' }, manyToOne: {}, toMany: {} },
};
const KINDS = ['red', 'green', 'blue', 'a"b', null];
const TEAMS = [1, 2, 3, null];

interface Subscriber {
  readonly client: RealtimeTestClient;
  readonly rule: PermissionTestFilter;
  readonly filter: PermissionTestFilter;
  readonly leaving: boolean;
  readonly user: string;
}

/** A condition on a thing. */
function drawCondition(random: SeededRandom, depth: number): PermissionTestFilter {
  const size = () => random.upTo(6);
  const simple: readonly (() => PermissionTestFilter)[] = [
    () => ({ size: { [random.one(['_eq', '_neq', '_lt', '_gt'])]: size() } }),
    () => ({ size: { _between: [size(), size()] } }),
    () => ({ size: { _null: random.chance(0.5) } }),
    () => ({ kind: { [random.one(['_eq', '_neq'])]: random.one(['red', 'green', 'blue', 'a"b']) } }),
    () => ({ kind: { [random.one(['_in', '_nin'])]: ['red', random.one(['green', 'a"b'])] } }),
    () => ({ kind: { [random.one(['_contains', '_ncontains'])]: random.one(['e', 'bl']) } }),
    () => ({ owner: { _eq: '$CURRENT_USER' } }),
    () => ({ team: { name: { [random.one(['_eq', '_contains'])]: random.one(['one', 'two', 'o']) } } }),
  ];
  if (depth === 0 || random.chance(0.4)) return random.one(simple)();
  const parts = [drawCondition(random, depth - 1), drawCondition(random, depth - 1)];
  return { [random.one(['_and', '_or'])]: parts };
}

const drawRow = (random: SeededRandom, users: readonly string[]) => ({
  size: random.one([0, 1, 2, 3, 4, 5, null]),
  kind: random.one(KINDS),
  owner: random.chance(0.4) ? random.one(users) : null,
  team: random.one(TEAMS),
});

describe('subscriptions under random row rules', () => {
  let service: InProcessService;
  const subscribers: Subscriber[] = [];
  const query = (text: string, params: readonly unknown[] = []) =>
    service.database.query<PermissionTestRow>(text, params);
  const random = createSeededRandom(SEED);

  /** Creates a role, its permission and a user for each rule, by SQL: a thousand requests would take most of the time. */
  async function createUsers(): Promise<void> {
    for (let at = 0; at < RULES; at++) {
      const [user, role] = [randomUUID(), randomUUID()];
      // All see the marks, which say that all changes before have been delivered.
      const rule = { _or: [{ kind: { _eq: 'mark' } }, drawCondition(random, 2)] };
      await query(`insert into platform_roles (id, name) values ($1, $2)`, [role, `r${at}`]);
      await query(
        `insert into platform_permissions (role, collection, action, permissions, fields)
        values ($1, 'thing', 'read', $2, '*'), ($1, 'team', 'read', null, '*')`,
        [role, JSON.stringify(rule)],
      );
      await query(`insert into platform_users (id, email, role, status, token) values ($1, $2, $3, 'active', $4)`, [
        ...[user, `${user}@example.com`, role, user],
      ]);
      const filter = random.chance(0.5) ? {} : { _or: [{ kind: { _eq: 'mark' } }, drawCondition(random, 1)] };
      const client = await openSocket(service.url, `/websocket?access_token=${user}`);
      const leaving = random.chance(0.5);
      subscribers.push({ client, rule, filter, leaving, user });
    }
    for (const { client, filter, leaving } of subscribers) {
      const message = { type: 'subscribe', uid: 's', collection: 'thing', leaving };
      const answer = await client.ask({ ...message, query: { fields: ['id', 'kind'], filter, limit: 1 } });
      expect(answer.event, JSON.stringify(answer)).to.equal('init');
    }
  }

  before(async function () {
    this.timeout(60_000 + RULES * 200);
    service = await startService({
      env: {
        ...{ WEBSOCKETS_ENABLED: 'true', WEBSOCKETS_REST_AUTH: 'public', WEBSOCKETS_HEARTBEAT_ENABLED: 'false' },
        ...{ WEBSOCKETS_ADDRESS_CONN_LIMIT: '5000', WEBSOCKETS_PUBLIC_CONN_LIMIT: '5000' },
      },
    });
    await requestAsAdmin(service, 'POST', '/collections', {
      ...{ collection: 'team', schema: {} },
      fields: [{ field: 'name', type: 'string' }],
    });
    await requestAsAdmin(service, 'POST', '/collections', {
      ...{ collection: 'thing', schema: {} },
      fields: [
        { field: 'size', type: 'integer' },
        { field: 'kind', type: 'string' },
        { field: 'owner', type: 'uuid' },
        { field: 'team', type: 'integer' },
      ],
    });
    const relation = { collection: 'thing', field: 'team', related_collection: 'team' };
    await requestAsAdmin(service, 'POST', '/relations', relation);
    await query(`insert into team (id, name) values (1, 'one'), (2, 'two'), (3, 'three')`);
    await createUsers();
  });
  after(async () => {
    for (const { client } of subscribers) client.close();
    await service?.stop();
  });

  /** The events that a subscriber should get of one change of a row. */
  function expected(one: Subscriber, old: PermissionTestRow | undefined, row: PermissionTestRow | undefined) {
    const teams = [1, 2, 3].map((id) => ({ id, name: ['one', 'two', 'three'][id - 1] }));
    const all = { admin: false, user: one.user, role: null, permissions: new Map() };
    const evaluator = new ReferenceFilterEvaluator(MODEL, { team: teams }, all);
    const isShown = (some: PermissionTestRow | undefined) =>
      some !== undefined &&
      evaluator.matches('thing', one.rule, some, false) === true &&
      evaluator.matches('thing', one.filter, some, false) === true;
    if (row && isShown(row)) return [[old ? 'update' : 'create', row.id]];
    return isShown(old) && (!row || one.leaving) ? [['delete', old?.id]] : [];
  }

  it(`show no caller a change of a row that it may not read: ${RULES} rules, ${CHANGES} changes, seed ${SEED}`, async function () {
    this.timeout(600_000);
    const users = subscribers.map(({ user }) => user);
    const rows = new Map<unknown, PermissionTestRow>();
    let decisions = 0;
    let deliveries = 0;
    const differences: string[] = [];
    for (let step = 0; step < CHANGES; step++) {
      const from = subscribers.map(({ client }) => client.messages.length);
      const old = rows.size > 0 && random.chance(0.7) ? random.one([...rows.values()]) : undefined;
      const row = old && random.chance(0.3) ? undefined : { ...drawRow(random, users), id: old?.id ?? step + 1 };
      const values = row && [row.id, row.size, row.kind, row.owner, row.team];
      if (!row) await query('delete from thing where id = $1', [old?.id]);
      else if (old) await query('update thing set size = $2, kind = $3, owner = $4, team = $5 where id = $1', values);
      else await query('insert into thing (id, size, kind, owner, team) values ($1, $2, $3, $4, $5)', values);
      const mark = 100_000 + step;
      await query(`insert into thing (id, kind) values ($1, 'mark')`, [mark]);
      if (row) rows.set(row.id, row);
      else rows.delete(old?.id);
      for (const [at, one] of subscribers.entries()) {
        const fresh = await until(() => {
          const messages = one.client.messages.slice(from[at]);
          return messages.some(({ data }) => data?.some?.((some: PermissionTestRow) => some.id === mark)) && messages;
        });
        const events = fresh
          .flatMap(({ event, data }) => data.map((some: PermissionTestRow | number) => [event, some]))
          .map(([event, some]) => [event, typeof some === 'object' ? some.id : some])
          .filter(([, id]) => id !== mark);
        decisions++;
        deliveries += events.length;
        const right = expected(one, old, row);
        if (JSON.stringify(events) !== JSON.stringify(right)) {
          const { rule, filter, leaving, user } = one;
          differences.push(JSON.stringify({ step, old, row, rule, filter, leaving, user, events, right }));
        }
      }
    }
    console.log(`      ${decisions} decisions, ${deliveries} deliveries, ${differences.length} differences`);
    expect(differences, differences.slice(0, 3).join('\n')).to.have.length(0);
    expect(deliveries).to.be.greaterThan(decisions / 10);
  });
});
