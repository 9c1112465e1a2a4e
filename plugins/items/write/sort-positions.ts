import type { Collection, Field, Relation } from '../../schema/contract.ts';
import type { Payload } from '../contract.ts';
import type { ItemsEngineDeps } from '../deps.ts';
import { findLastPositions } from './stored-row-lookups.ts';
import type { ToManyWritePlan } from './to-many-plan.ts';

/** Appends new rows to those of their parent where the relation has a sort field, unless the payload sets it. */
export async function assignSortPositions(
  deps: Pick<ItemsEngineDeps, 'db'>,
  to: Collection,
  relation: Relation,
  link: Field,
  plans: readonly ToManyWritePlan[],
): Promise<ReadonlyMap<Payload, Payload>> {
  const positions = new Map<Payload, Payload>();
  const order = to.fields.get(relation.meta?.sort_field ?? '');
  if (order?.type !== 'integer') return positions;
  const unplaced = plans.flatMap(({ parent, create }) => {
    const rows = create.filter((row) => row[order.name] === undefined);
    return rows.length > 0 ? [{ parent, rows }] : [];
  });
  const parentKeys = unplaced.filter(({ parent }) => !parent.isNew).map(({ parent }) => parent.key);
  const last = await findLastPositions(deps.db, to, order, link, parentKeys);
  for (const { parent, rows } of unplaced) {
    let place = last.get(parent.key) ?? 0;
    for (const row of rows) positions.set(row, { [order.name]: ++place });
  }
  return positions;
}
