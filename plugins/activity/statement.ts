import { identifier, literal } from '../database/library.ts';
import type { Collection } from '../schema/contract.ts';
import type { Activity, Step } from './contract.ts';
import { differenceSql, snapshotSql } from './snapshot.ts';

/** Parameters that say who acts: see `actor.ts`, which binds them in this order. */
const ACTOR = '"user", ip, user_agent, origin, owner, invocation';
const TYPES = ['uuid', 'text', 'text', 'text', 'text', 'text'] as const;

/**
 * Statements that record themselves (roles and permissions, 2.8 and 2.9):
 *
 *     with changed as (insert … returning key, data, nextval(…) as activity),
 *       acted as (insert into platform_activity … from changed),
 *       revised as (insert into platform_revisions … from changed)
 *     select … from changed n
 *
 * Ids come from the sequences rather than from `returning` of the history, so that nothing has to be matched with rows again. In a
 * nested write a CTE `noted` follows `changed` and is read in its place: it finds the place of each row.
 */
export function createRecorded(schema: string): Pick<Activity, 'recorded' | 'kept'> {
  const table = (name: string) => `${identifier(schema)}.platform_${name}`;
  const next = (name: string) => `nextval(${literal(`${identifier(schema)}.platform_${name}_id_seq`)}::regclass)::int`;

  function noted({ collection, first, nested }: Step): string {
    const param = (at: number, type: string) => `$${first + TYPES.length + at}::${type}[]`;
    const lists = `${param(0, 'int')}, ${param(1, 'int')}`;
    const places =
      nested === 'by key'
        ? `unnest(${lists}, ${param(3, 'text')}) with ordinality g(own, inside, key, at) on g.key::${keyType(collection)} = c.key::${keyType(collection)}`
        : `unnest(${lists}) with ordinality g(own, inside, at) on g.at = c.line`;
    return `parents as materialized (
      select u.at, coalesce(u.known, ${next('revisions')}) as id from unnest(${param(2, 'int')}) with ordinality u(known, at)
    ), noted as materialized (
      select c.*, g.at, coalesce(g.own, ${next('revisions')}) as revision, g.own is not null as named, p.id as parent
      from (select *, row_number() over () as line from changed) c join ${places} left join parents p on p.at = g.inside
    )`;
  }

  function revised({ action, collection, nested, isAround }: Step, from: string): string {
    const delta = action === 'create' ? 'n.data' : 'n.delta::jsonb';
    const skips = action === 'update' && !isAround;
    const where = skips ? ` where n.delta <> '{}'${nested ? ' or n.named' : ''}` : '';
    return `revised as (
      insert into ${table('revisions')} (${nested ? 'id, parent, ' : ''}activity, collection, item, data, delta)
      select ${nested ? 'n.revision, n.parent, ' : ''}n.activity, ${literal(collection.name)}, ${itemOf(collection)}, n.data, ${delta}
      from ${from} n${where}
    )`;
  }

  function acted({ action, collection, first }: Step, from: string): string {
    const actor = TYPES.map((type, at) => `$${first + at}::${type}`).join(', ');
    return `acted as (
      insert into ${table('activity')} (id, action, collection, item, ${ACTOR})
      select n.activity, '${action}', ${literal(collection.name)}, ${itemOf(collection)}, ${actor} from ${from} n
    )`;
  }

  return {
    kept,

    recorded(step) {
      const { action, collection, expression, nested } = step;
      const hasRevision = kept(collection) === 'all' && action !== 'delete';
      const data = hasRevision ? `, ${snapshotSql(collection, expression)} as data` : '';
      const changes = hasRevision && action === 'update';
      const delta = changes ? `, ${differenceSql(collection, step.sets ?? [], expression)} as delta` : '';
      const placed = nested !== undefined && hasRevision;
      const from = placed ? 'noted' : 'changed';
      const ctes = [...(placed ? [noted(step)] : []), acted(step, from), ...(hasRevision ? [revised(step, from)] : [])];
      return {
        returning: `${data}${delta}, ${next('activity')} as activity`,
        compares: changes,
        ctes: `, ${ctes.join(', ')}`,
        from,
        order: placed ? ' order by n.at' : '',
        places: placed
          ? `json_build_object('revisions', json_agg(n.revision order by n.at), 'parents', (select json_agg(p.id order by p.at) from parents p))`
          : '',
      };
    },
  };
}

/** Rows without a key are not named; their revisions hold what they were. */
const itemOf = ({ hasKey }: Collection): string => (hasKey ? 'left(n.key::text, 255)' : `''`);

/** Keys are compared as the column's type has them: as texts, equal ones need not be written alike. */
const keyType = ({ fields, primary }: Collection): string => fields.get(primary ?? '')?.column?.sqlType ?? 'text';

/** Tables that nobody has registered are recorded like any other: `all` is the default. */
const kept: Activity['kept'] = ({ meta }) => (meta ? meta.accountability : 'all');
