import type { Log } from '#kernel';
import { NOTIFY_CHANNEL } from '../../cluster/library.ts';
import type { Db } from '../../database/contract.ts';
import { quoteLiteral } from '../../database/library.ts';
import { ROW_CHANGES_CHANNEL } from '../contract.ts';
import { ROW_CHANGES_TRIGGER } from './trigger-name.ts';

export { ROW_CHANGES_TRIGGER };

/**
 * How long a new trigger waits for the transactions that have written to its table. Other writers of the table queue behind it
 * meanwhile.
 */
const LOCK_TIMEOUT = '200ms';
const REMOVAL_LOCK_TIMEOUT = '5s';

// Every name is qualified, so that the search path of the writing session does not matter.
const FUNCTION_BODY = `begin
  perform pg_catalog.pg_notify('${NOTIFY_CHANNEL}', pg_catalog.concat('{"channel":"${ROW_CHANGES_CHANNEL}","payload":', tg_relid, '}'));
  return null;
end`;

/**
 * Creates a trigger on each table, in transactions of their own. A table that is locked, or on which the database role may not put a
 * trigger, stays without one.
 */
export async function createRowChangeTriggers(
  db: Db,
  functionName: string,
  tables: readonly string[],
  log: Log,
): Promise<void> {
  for (const table of tables) {
    try {
      await db.transaction(async () => {
        // Processes that want the same trigger would change the same catalog rows.
        await db.query(`select pg_advisory_xact_lock(hashtext('${ROW_CHANGES_TRIGGER}'))`);
        await db.query(`select set_config('lock_timeout', '${LOCK_TIMEOUT}', true)`);
        await createFunctionIfMissing(db, functionName);
        if (await hasTrigger(db, table)) await db.ddl(`drop trigger ${ROW_CHANGES_TRIGGER} on ${table}`);
        await db.ddl(
          `create trigger ${ROW_CHANGES_TRIGGER} after insert or update or delete or truncate on ${table} for each statement execute function ${functionName}()`,
        );
        // `always`: also in sessions whose `session_replication_role` is `replica`.
        await db.ddl(`alter table ${table} enable always trigger ${ROW_CHANGES_TRIGGER}`);
      });
    } catch (error) {
      log.debug({ table, reason: (error as Error).message }, 'a trigger that announces changed rows was not created');
    }
  }
}

/** Whether there is a trigger, disabled or of another function. To drop one locks out readers too, so only that one is dropped. */
async function hasTrigger(db: Db, table: string): Promise<boolean> {
  const found = await db.query('select from pg_trigger where tgrelid = to_regclass($1) and tgname = $2', [
    table,
    ROW_CHANGES_TRIGGER,
  ]);
  return found.count > 0;
}

async function createFunctionIfMissing(db: Db, functionName: string): Promise<void> {
  const { rows } = await db.query<{ body: string | null }>(
    `select (select prosrc from pg_proc where oid = to_regprocedure($1)) as body`,
    [`${functionName}()`],
  );
  if (rows[0]?.body === FUNCTION_BODY) return;
  await db.ddl(
    `create or replace function ${functionName}() returns trigger language plpgsql as ${quoteLiteral(FUNCTION_BODY)}`,
  );
}

/** Removes the function with all of its triggers. Answers the number of triggers. */
export const removeRowChangeTriggers = (db: Db, functionName: string): Promise<number> =>
  db.transaction(async () => {
    await db.query(`select pg_advisory_xact_lock(hashtext('${ROW_CHANGES_TRIGGER}'))`);
    await db.query(`select set_config('lock_timeout', '${REMOVAL_LOCK_TIMEOUT}', true)`);
    const { rows } = await db.query<{ count: string }>(
      `select count(*) as count from pg_trigger where tgfoid = to_regprocedure($1)`,
      [`${functionName}()`],
    );
    await db.ddl(`drop function if exists ${functionName}() cascade`);
    return Number(rows[0]?.count);
  });
