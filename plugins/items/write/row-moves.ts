import type { Caller } from '#kernel';
import type { WriteCancellation } from '../contract.ts';

/** Moves of rows in the manual order of their collection: verbs of `ItemsEngine`. */
export interface RowMoves {
  /**
   * Moves a row immediately before another one in the manual order of the collection (specification, "Utility endpoints"). The caller
   * needs the permission to update the sort field of both; rows between them move by one without it.
   * @throws FORBIDDEN, INVALID_PAYLOAD for a collection without a sort field.
   */
  moveBefore(
    caller: Caller,
    collection: string,
    key: unknown,
    before: unknown,
    options?: WriteCancellation,
  ): Promise<void>;
}
