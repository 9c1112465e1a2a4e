import { quoteIdentifier, quoteLiteral } from '../database/library.ts';
import type { Collection } from '../schema/contract.ts';
import type { HistoryRecordedStatement, HistoryRecorder } from './contract.ts';
import { renderRevisionDataSql, renderRevisionDeltaSql } from './revision-sql.ts';

/** Columns of the actor; `toActorSqlParameters` binds them in this order. */
const ACTOR_COLUMNS = '"user", ip, user_agent, origin, owner, invocation';
const ACTOR_TYPES = ['uuid', 'text', 'text', 'text', 'text', 'text'] as const;

/**
 * Renders the SQL by which a writing statement records its changes as activity and revisions (specification "Roles and
 * permissions", 2.8 and 2.9):
 *
 *     with changed as (insert … returning key, data, nextval(…) as activity),
 *       acted as (insert into platform_activity … from changed),
 *       revised as (insert into platform_revisions … from changed)
 *     select … from changed n
 *
 * Ids come from the sequences and not from `returning` of the history, so that ids need not be matched with rows again. In a
 * nested write the CTE `noted` follows `changed` and is read in its place: it finds the revision place of each row.
 */
export function createHistorySql(schema: string): Pick<HistoryRecorder, 'historySql' | 'historyLevel'> {
  const table = (name: string) => `${quoteIdentifier(schema)}.platform_${name}`;
  const next = (name: string) =>
    `nextval(${quoteLiteral(`${quoteIdentifier(schema)}.platform_${name}_id_seq`)}::regclass)::int`;

  function renderPlacesCtes({ collection, firstParameter: first, nested }: HistoryRecordedStatement): string {
    const param = (at: number, type: string) => `$${first + ACTOR_TYPES.length + at}::${type}[]`;
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

  function renderRevisionsCte(
    { action, collection, nested, hasNestedRows }: HistoryRecordedStatement,
    from: string,
  ): string {
    // Reads of a revision without `delta`, which is that of a new row, show `data` in its place.
    const [deltaColumn, delta] = action === 'create' ? ['', ''] : [', delta', ', n.delta::json'];
    const skips = action === 'update' && !hasNestedRows;
    const where = skips ? ` where n.delta <> '{}'${nested ? ' or n.named' : ''}` : '';
    return `revised as (
      insert into ${table('revisions')} (${nested ? 'id, parent, ' : ''}activity, collection, item, data${deltaColumn})
      select ${nested ? 'n.revision, n.parent, ' : ''}n.activity, ${quoteLiteral(collection.name)}, ${itemKeySql(collection)}, n.data${delta}
      from ${from} n${where}
    )`;
  }

  function renderActivityCte(
    { action, collection, firstParameter: first }: HistoryRecordedStatement,
    from: string,
  ): string {
    const actor = ACTOR_TYPES.map((type, at) => `$${first + at}::${type}`).join(', ');
    return `acted as (
      insert into ${table('activity')} (id, action, collection, item, ${ACTOR_COLUMNS})
      select n.activity, '${action}', ${quoteLiteral(collection.name)}, ${itemKeySql(collection)}, ${actor} from ${from} n
    )`;
  }

  return {
    historyLevel: historyLevelOf,

    historySql(step) {
      const { action, collection, expression, nested } = step;
      const hasRevision = historyLevelOf(collection) === 'all' && action !== 'delete';
      const data = hasRevision ? renderRevisionDataSql(collection, expression) : undefined;
      const isUpdate = hasRevision && action === 'update';
      const delta = isUpdate ? `, ${renderRevisionDeltaSql(collection, step.sets ?? [], expression)} as delta` : '';
      const hasPlaces = nested !== undefined && hasRevision;
      const from = hasPlaces ? 'noted' : 'changed';
      const ctes = [
        ...(hasPlaces ? [renderPlacesCtes(step)] : []),
        renderActivityCte(step, from),
        ...(hasRevision ? [renderRevisionsCte(step, from)] : []),
      ];
      return {
        returning: `${data === undefined ? '' : `, ${data} as data`}${delta}, ${next('activity')} as activity`,
        data,
        readsBefore: isUpdate,
        ctes: `, ${ctes.join(', ')}`,
        from,
        order: hasPlaces ? ' order by n.at' : '',
        places: hasPlaces
          ? `json_build_object('revisions', json_agg(n.revision order by n.at), 'parents', (select json_agg(p.id order by p.at) from parents p))`
          : '',
      };
    },
  };
}

/** Rows of tables without a key are recorded with an empty key; their revisions hold the values. */
const itemKeySql = ({ hasKey }: Collection): string => (hasKey ? 'left(n.key::text, 255)' : `''`);

/** SQL compares keys in the type of their column: equal keys may differ as texts (`1.5`, `1.50`). */
const keyType = ({ fields, primary }: Collection): string => fields.get(primary ?? '')?.column?.sqlType ?? 'text';

/** What is recorded of changes in a collection. The default is `all`, also for tables without a row in `platform_collections`. */
const historyLevelOf: HistoryRecorder['historyLevel'] = ({ meta }) => (meta ? meta.accountability : 'all');
