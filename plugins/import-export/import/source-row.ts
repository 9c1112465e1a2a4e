import { type Failure, fail } from '#kernel';
import type { ImportRow } from '../../items/contract.ts';

/** A row of a file, with the number of characters that it has there. */
export interface SourceRow extends ImportRow {
  readonly size: number;
}

/** Limits of one row. */
export interface RowLimits {
  /** Characters of a row. */
  readonly maxRowSize: number;
}

export const createRowTooLargeFailure = (maxRowSize: number): Failure =>
  fail('CONTENT_TOO_LARGE', `A row has more than the ${maxRowSize} characters allowed (MAX_PAYLOAD_SIZE).`, {
    limit: maxRowSize,
  });

export const createMalformedFailure = (reason: string): Failure => fail('INVALID_PAYLOAD', reason, { path: [] });

/** A row that cannot be read. */
export const unreadableRow = (position: ImportRow['position'], failure: Failure): SourceRow => ({
  position,
  payload: {},
  failure,
  size: 0,
});
