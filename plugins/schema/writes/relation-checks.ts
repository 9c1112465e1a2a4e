import { absent } from '../absent.ts';
import type { Collection, Overview, Relation } from '../contract.ts';
import { listOf } from '../overview/registry-rows.ts';
import { invalid } from './payload.ts';
import type { RowValues } from './registry-row.ts';

/** What a relation to one of several collections needs to be known about. */
export function checkAny(overview: Overview, many: Collection, values: RowValues): void {
  const by = values.one_collection_field;
  const allowed = listOf(values.one_allowed_collections) ?? [];
  if (typeof by !== 'string' || allowed.length === 0) {
    throw invalid(
      '"related_collection" is required, or "meta.one_collection_field" and "meta.one_allowed_collections".',
    );
  }
  if (!many.fields.get(by)?.column) throw invalid(`Collection "${many.name}" has no field "${by}".`);
  const unknown = allowed.find((name) => !overview.collections.has(name));
  if (unknown !== undefined) throw invalid(`There is no collection "${unknown}".`);
}

/** The alias that shows the other side must not be a column, nor show another relation already. */
export function checkOneField(
  overview: Overview,
  one: Collection | undefined,
  values: RowValues,
  own: Relation | null,
): void {
  const name = values.one_field;
  if (typeof name !== 'string' || !one) return;
  if (one.fields.get(name)?.column)
    throw invalid(`Field "${name}" of "${one.name}" has a column and cannot be an alias.`);
  const taken = overview.relations.find(({ related, meta }) => related === one.name && meta?.one_field === name);
  if (taken && (taken.collection !== own?.collection || taken.field !== own.field)) {
    throw invalid(`Field "${name}" of "${one.name}" already shows another relation.`);
  }
}

export const relationOf = (overview: Overview, collection: string, field: string): Relation | undefined =>
  overview.relations.find((one) => one.collection === collection && one.field === field);

/** ROUTE_NOT_FOUND where there is none. */
export function knownRelation(overview: Overview, collection: string, field: string): Relation {
  const relation = relationOf(overview, collection, field);
  if (!relation) throw absent('relation', `${collection}.${field}`);
  return relation;
}
