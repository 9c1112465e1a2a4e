import { authorities, facet } from '#kernel';

/** One kind of records that become old. Contributed to `retention.rules`. */
export interface RetentionRule {
  /** What is deleted, in the plural, for the log: `runs of flows`. */
  readonly records: string;
  /** Milliseconds for which a record is kept. */
  readonly keep: number;
  /**
   * Deletes records older than `before`, in statements of at most `batch` records each, and yields after each how many it deleted.
   * The caller pauses between two of them and may end the generator after any.
   */
  deleteOld(before: Date, batch: number): AsyncGenerator<number, void, undefined>;
}

/** Records that are deleted by RETENTION_SCHEDULE, in plugin order, before activity and revisions. */
export const retentionRules = facet<RetentionRule>('retention.rules', {
  coreOnly: true,
  describe: () => authorities('contributes to', ['the retention of old records']),
});
