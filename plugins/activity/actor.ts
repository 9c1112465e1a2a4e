import { type Caller, requestScope } from '#kernel';
import { ACTIVITY_TEXT_LENGTHS } from './collections.ts';
import type { HistoryRecorder, NestedWriteRevisions, PendingRevisionId, RowAndParentRevision } from './contract.ts';

const truncate = (text: string | null | undefined, length: number): string | null => text?.slice(0, length) ?? null;

/**
 * The actor's columns in the order of `ACTOR_COLUMNS`: user, IP address, user agent, origin, owner, invocation. A
 * system caller is known by its owner.
 */
export const toActorSqlParameters = (caller: Caller): readonly (string | null)[] => [
  caller.user,
  truncate(caller.ip, ACTIVITY_TEXT_LENGTHS.ip),
  truncate(caller.userAgent, ACTIVITY_TEXT_LENGTHS.user_agent),
  truncate(caller.origin, ACTIVITY_TEXT_LENGTHS.origin),
  truncate(caller.owner, ACTIVITY_TEXT_LENGTHS.owner),
  truncate(requestScope.getStore()?.invocation, ACTIVITY_TEXT_LENGTHS.invocation),
];

export const bindHistoryParameters: HistoryRecorder['bindHistory'] = (caller, places) =>
  places
    ? bindNestedHistory(toActorSqlParameters(caller), places)
    : { values: toActorSqlParameters(caller), settle() {} };

/**
 * The parameters of a nested write: the ids of the rows' own revisions, for each row the index of its parent revision, the ids of
 * the parent revisions, and keys. Ids that are not known yet are null.
 */
function bindNestedHistory(
  actor: readonly unknown[],
  { rows, keys }: NestedWriteRevisions,
): ReturnType<HistoryRecorder['bindHistory']> {
  const parents = [...new Set(rows.flatMap(({ parent }) => parent ?? []))];
  const at = new Map<PendingRevisionId, number>(parents.map((slot, index) => [slot, index + 1]));
  const parentIndexOf = ({ parent }: RowAndParentRevision) => (parent ? (at.get(parent) ?? null) : null);
  return {
    values: [
      ...actor,
      rows.map(({ revision }) => revision.id),
      rows.map(parentIndexOf),
      parents.map(({ id }) => id),
      ...(keys ? [keys.map(String)] : []),
    ],
    settle(places) {
      const ids = (places.revisions ?? []) as readonly number[];
      const parentIds = (places.parents ?? []) as readonly number[];
      for (const [index, { revision }] of rows.entries()) revision.id = ids[index] ?? null;
      for (const [index, slot] of parents.entries()) slot.id = parentIds[index] ?? null;
    },
  };
}
