import type { Db, GrantedSqlStatement } from '../database/contract.ts';

/** Until when history is old: earlier rows are deleted. */
export interface HistoryLimits {
  /** Activity without revisions, such as sign-ins and deletes. */
  readonly activity: Date;
  readonly revisions: Date;
  /** Activity and revisions of runs of flows. */
  readonly runs: Date;
}

/**
 * Milliseconds by which all rows of a batch must be younger than every limit before the walk ends. Ids are taken while a transaction
 * runs, and the time is that of its beginning, so a row may have a higher id than a younger one.
 */
const MAX_TRANSACTION_TIME = 86_400_000;

interface BatchResult {
  readonly deleted: number;
  readonly seen: number;
  readonly last: string | null;
  readonly isYoung: boolean;
}

/** The generators of `RetentionRule.deleteOld` for history, whose rows have several limits. */
export interface OldHistory {
  deleteRevisions(limits: HistoryLimits, batch: number): AsyncGenerator<number, void, undefined>;
  /**
   * Call it when all old revisions are deleted: a revision has its time by its activity. Activity of created and updated rows is kept
   * as long as their revisions.
   */
  deleteActivity(limits: HistoryLimits, batch: number): AsyncGenerator<number, void, undefined>;
}

/**
 * Walks through both tables by their keys, each batch from where the one before ended. An index on the time would not do: a long
 * import has one time for all of its rows. An index from activity to its revisions does not exist, since each write would pay for it
 * (ADR 37); so revisions are found by their own keys, and their activity by its key.
 */
export function createOldHistory(db: Db): OldHistory {
  const activity = db.write('platform_activity');
  const revisions = db.write('platform_revisions');
  const IS_RUN = db.sql`a.action = 'run' and a.collection = 'platform_flows'`;
  const SUMMARY = db.sql`select (select count(*) from old)::int as deleted, count(*)::int as seen, max(id)::text as last,
    coalesce(min(timestamp) >= $6, false) as "isYoung" from page`;
  // The number of a revision's activity tells its age where the activity itself is gone.
  const FIRST_KEPT = db.sql`select min(id)::text as id from (select id from ${activity} where timestamp >= $1 order by timestamp limit 1) a`;
  const REVISIONS = db.sql`with page as (
      select r.id, r.activity, a.timestamp, ${IS_RUN} as is_run from ${revisions} r left join ${activity} a on a.id = r.activity
      where r.id > $1::int8 order by r.id limit $2),
    old as (select id from page where case when timestamp is null then activity < $5::int8
      else timestamp < case when is_run then $4::timestamptz else $3::timestamptz end end),
    gone as (delete from ${revisions} r using old where r.id = old.id)
    ${SUMMARY}`;
  const ACTIVITY = db.sql`with page as (
      select a.id, a.timestamp, a.action, ${IS_RUN} as is_run from ${activity} a where a.id > $1::int8 order by a.id limit $2),
    old as (select id from page where timestamp < case when is_run then $4::timestamptz
      when action in ('create', 'update') then least($3::timestamptz, $5::timestamptz) else $3::timestamptz end),
    gone as (delete from ${activity} a using old where a.id = old.id)
    ${SUMMARY}`;

  async function* walk(
    statement: GrantedSqlStatement,
    batch: number,
    params: readonly unknown[],
    limits: HistoryLimits,
  ): AsyncGenerator<number, void, undefined> {
    const newest = Math.max(...[limits.activity, limits.revisions, limits.runs].map(Number));
    const young = new Date(newest + MAX_TRANSACTION_TIME);
    for (let after = '0'; ; ) {
      const { rows } = await db.query<BatchResult>(statement, [after, batch, ...params, young]);
      const { deleted, seen, last, isYoung } = rows[0] as BatchResult;
      yield deleted;
      if (seen < batch || isYoung || last === null) return;
      after = last;
    }
  }

  return {
    async *deleteRevisions(limits, batch) {
      const { rows } = await db.query<{ id: string | null }>(FIRST_KEPT, [limits.revisions]);
      yield* walk(REVISIONS, batch, [limits.revisions, limits.runs, rows[0]?.id ?? null], limits);
    },
    deleteActivity: (limits, batch) => walk(ACTIVITY, batch, [limits.activity, limits.runs, limits.revisions], limits),
  };
}
