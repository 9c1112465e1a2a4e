import { fail } from '#kernel';
import { createPoolShareHolder } from '../../database/library.ts';
import type { SqlCondition } from '../../query/contract.ts';
import { currentAnswerSources, fieldColumnListSql, fieldsEqualSql, keyEqualsSql } from '../../query/library.ts';
import type { Collection, Field } from '../../schema/contract.ts';
import type { ItemsEngine } from '../contract.ts';
import type { ItemsEngineDeps } from '../deps.ts';
import { itemEventNames } from '../event-names.ts';
import { findWritableCollection, keySqlType, parseKeyValue } from '../find-collection-and-key.ts';
import { translatePostgresWriteError } from './database-errors.ts';
import { columnSql, tableSql } from './sql.ts';

const ORDERED_TYPES: ReadonlySet<string> = new Set(['integer', 'bigInteger', 'float', 'decimal']);

/**
 * Creates the verb that moves a row within the manual order of its collection. The statement reads the order of the whole table
 * and changes only rows whose position changes.
 */
export function createRowMove({
  access,
  activity,
  db,
  events,
  query,
  schema,
  timeout,
}: ItemsEngineDeps): Pick<ItemsEngine, 'moveBefore'> {
  return {
    async moveBefore(caller, name, rawKey, rawBefore, { signal } = {}) {
      await access.assertAllowed(caller, 'update', name);
      const { collection, schemaSnapshot, key } = await findWritableCollection(schema, name, caller);
      const order = requireSortField(collection);
      const rule = await access.restrictWrite(collection, 'update', [order.name], caller, schemaSnapshot);
      const [moved, before] = [parseKeyValue(key, rawKey), parseKeyValue(key, rawBefore)];
      const condition = query.compileCondition(rule, caller, schemaSnapshot, 3);
      const text = renderMove(collection, key, order, condition);
      currentAnswerSources()?.markWrite();
      const isSameRow = String(moved) === String(before);
      const isFound = await db.transaction(
        async () => {
          // Of two moves the second one has to see the order that the first one left.
          await db.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`order of ${name}`]);
          const { found } = await runMove(db, collection, text, [moved, before, ...condition.params]);
          if (found === (isSameRow ? 1 : 2) && activity.historyLevel(collection) !== null)
            await activity.record(caller, { action: 'update', collection: name, item: moved });
          return found === (isSameRow ? 1 : 2);
        },
        { share: createPoolShareHolder(name, caller), timeout, ...(signal ? { signal } : {}) },
      );
      if (!isFound) throw fail('FORBIDDEN', `a row to sort does not exist in ${name}, or may not be updated`);
      events.action(itemEventNames(collection, 'sort'), { caller, collection: name, item: moved, to: before });
    },
  };
}

/** @throws INVALID_PAYLOAD for a collection without a manual order */
function requireSortField({ name, meta, fields }: Collection): Field {
  const field = fields.get(meta?.sort_field ?? '');
  if (!field?.column) throw fail('INVALID_PAYLOAD', `The collection "${name}" has no sort field.`);
  if (!ORDERED_TYPES.has(field.type) || field.column.generated)
    throw fail(
      'INVALID_PAYLOAD',
      `The sort field "${field.name}" of "${name}" does not hold numbers that can be changed.`,
    );
  return field;
}

async function runMove(
  db: ItemsEngineDeps['db'],
  collection: Collection,
  text: string,
  params: readonly unknown[],
): Promise<{ readonly found: number }> {
  try {
    return (await db.query<{ found: number }>(text, params)).rows[0] as { found: number };
  } catch (error) {
    throw translatePostgresWriteError(error, collection);
  }
}

/**
 * Renders the move of the row `$1` before the row `$2`; parameters of the condition follow. Positions are the stored values, made to
 * increase where rows have none or equal ones: place + the greatest (value - place) so far. So no row changes beside those
 * between the two and those whose value was missing or taken. Answers how many of the two rows match the condition; unless all
 * do, nothing changes.
 */
function renderMove(collection: Collection, key: Field, order: Field, condition: SqlCondition): string {
  const [table, value] = [tableSql(collection), columnSql(order)];
  const columns = fieldColumnListSql('t', key);
  const isRow = (param: number) => keyEqualsSql('t', key, `$${param}::${keySqlType(key)}`);
  const type = (order.column as { sqlType: string }).sqlType;
  return `with permitted as (select count(*)::int as found, count(*) filter (where ${isRow(1)}) as moved, count(*) filter (where ${isRow(2)}) as target
      from ${table} t where (${isRow(1)} or ${isRow(2)}) and (${condition.text})),
    ranked as (select ${columns.join(', ')}, t.${value} as value, ${isRow(1)} as is_moved, ${isRow(2)} as is_target,
      row_number() over (order by t.${value} nulls last, ${columns.join(', ')}) as place from ${table} t),
    positions as (select place, place + coalesce(max(floor(value)::numeric - place) over (order by place), 0) as position from ranked),
    ends as (select (select place from ranked where is_moved) as source, (select place from ranked where is_target) as target
      from permitted where moved = 1 and target = 1),
    placed as (select r.*, case
        when r.is_moved and source < target then target - 1
        when r.is_moved then target
        when place > source and place < target then place - 1
        when place >= target and place < source then place + 1
        else place end as new_place from ranked r, ends),
    changed as (update ${table} t set ${value} = n.position::${type} from placed r join positions n on n.place = r.new_place
      where ${fieldsEqualSql('t', key, 'r', key)} and t.${value} is distinct from n.position::${type})
    select found from permitted`;
}
