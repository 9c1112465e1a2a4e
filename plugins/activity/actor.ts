import { type Caller, requestScope } from '#kernel';
import { LENGTHS } from './collections.ts';
import type { Activity, Place, Places, RevisionSlot } from './contract.ts';

const cut = (text: string | null | undefined, length: number): string | null => text?.slice(0, length) ?? null;

/** Who acts, in the order in which the statements name the columns. A system caller is known by its owner. */
export const actorOf = (caller: Caller): readonly (string | null)[] => [
  caller.user,
  cut(caller.ip, LENGTHS.ip),
  cut(caller.userAgent, LENGTHS.user_agent),
  cut(caller.origin, LENGTHS.origin),
  cut(caller.owner, LENGTHS.owner),
  cut(requestScope.getStore()?.invocation, LENGTHS.invocation),
];

export const bind: Activity['bind'] = (caller, places) =>
  places ? nested(actorOf(caller), places) : { values: actorOf(caller), settle() {} };

/** Own ids, places in the list of revisions around them, that list, and keys. Ids not known yet are null. */
function nested(actor: readonly unknown[], { rows, keys }: Places): ReturnType<Activity['bind']> {
  const around = [...new Set(rows.flatMap(({ above }) => above ?? []))];
  const at = new Map<RevisionSlot, number>(around.map((slot, index) => [slot, index + 1]));
  const inside = ({ above }: Place) => (above ? (at.get(above) ?? null) : null);
  return {
    values: [
      ...actor,
      rows.map(({ own }) => own.id),
      rows.map(inside),
      around.map(({ id }) => id),
      ...(keys ? [keys.map(String)] : []),
    ],
    settle(places) {
      const revisions = (places.revisions ?? []) as readonly number[];
      const parents = (places.parents ?? []) as readonly number[];
      for (const [index, { own }] of rows.entries()) own.id = revisions[index] ?? null;
      for (const [index, slot] of around.entries()) slot.id = parents[index] ?? null;
    },
  };
}
