import type { Collection, Field, Relation } from '../../schema/contract.ts';
import type { Payload } from '../contract.ts';
import type { Deps } from '../deps.ts';
import { lastPlaces } from './lookups.ts';
import type { ManyPlan } from './many-plan.ts';

/** New rows come after all others of their parent where the relation has an order, unless they say where. */
export async function placesOf(
  deps: Pick<Deps, 'db'>,
  to: Collection,
  relation: Relation,
  link: Field,
  plans: readonly ManyPlan[],
): Promise<ReadonlyMap<Payload, Payload>> {
  const places = new Map<Payload, Payload>();
  const order = to.fields.get(relation.meta?.sort_field ?? '');
  if (order?.type !== 'integer') return places;
  const unplaced = plans.flatMap(({ holder, create }) => {
    const rows = create.filter((row) => row[order.name] === undefined);
    return rows.length > 0 ? [{ holder, rows }] : [];
  });
  const asked = unplaced.filter(({ holder }) => !holder.isNew).map(({ holder }) => holder.key);
  const last = await lastPlaces(deps.db, to, order, link, asked);
  for (const { holder, rows } of unplaced) {
    let place = last.get(holder.key) ?? 0;
    for (const row of rows) places.set(row, { [order.name]: ++place });
  }
  return places;
}
