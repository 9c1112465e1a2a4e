import { fail, type Log } from '#kernel';
import type { ProcessPresence } from '../cluster/contract.ts';
import type { Db } from '../database/contract.ts';
import { quoteIdentifier, quoteLiteral } from '../database/library.ts';
import type { WatchedTable, WatchResult } from './contract.ts';
import { FEED_TRIGGER_NAMES, renderFunctionBody, renderTriggers, triggerArguments } from './trigger-function.ts';

interface Deps {
  readonly db: Db;
  readonly presence: Pick<ProcessPresence, 'id' | 'findDead'>;
  readonly log: Log;
}

/** Which tables the live processes watch, and the triggers for them. */
export interface WatchRegistry {
  /** One attempt to watch a table. @throws INVALID_PAYLOAD, and the error of PostgreSQL where it is locked */
  watch(table: WatchedTable): Promise<WatchResult>;
  /** Forgets watches of this process on all but these relations, and those of dead processes; removes triggers that none needs. */
  sweep(keep: readonly number[]): Promise<void>;
  removeTriggers(): Promise<number>;
}

/** How long a new trigger waits for transactions that have written to its table; other writers queue behind it meanwhile. */
const LOCK_TIMEOUT = '200ms';
/** To drop a trigger locks out readers as well, so it waits less, and is tried again later. */
const DROP_LOCK_TIMEOUT = '50ms';
const REMOVAL_LOCK_TIMEOUT = '5s';
const LOCK = `select pg_advisory_xact_lock(hashtext('platform_row_feed'))`;

interface Relation {
  readonly oid: string;
  readonly name: string;
  readonly refusal: string | null;
  readonly ready: boolean;
  readonly triggers: string | null;
}

const triggerNames = quoteLiteral(`{${FEED_TRIGGER_NAMES.join(',')}}`);

/** The table `$1`, its partitions and children. `$2` are the arguments of triggers that fit, `$3` the function. */
const RELATIONS = `with recursive relations as (
    select to_regclass($1)::oid as oid, true as root
    union select i.inhrelid, false from relations r join pg_inherits i on i.inhparent = r.oid)
  select c.oid::text as oid, quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name,
    (select count(*) = ${FEED_TRIGGER_NAMES.length} from pg_trigger t where t.tgrelid = c.oid and t.tgname = any(${triggerNames})
      and t.tgenabled = 'A' and t.tgfoid = to_regprocedure($3) and t.tgargs = any($2::bytea[])) as ready,
    (select string_agg(t.oid::text, ' ' order by t.oid) from pg_trigger t
      where t.tgrelid = c.oid and t.tgname = any(${triggerNames})) as triggers,
    case when c.relkind not in ('r', 'p') then 'it is no table'
      when r.root and exists (select from pg_inherits i where i.inhrelid = c.oid) then 'it is part of another table'
      when c.relpersistence = 't' then 'it is a temporary table'
      when not pg_has_role(c.relowner, 'USAGE') then 'the database role does not own it'
      when row_security_active(c.oid) then 'row-level security applies to it'
      when exists (select from pg_subscription_rel s where s.srrelid = c.oid) then 'a subscription writes to it'
    end as refusal
  from relations r join pg_class c on c.oid = r.oid join pg_namespace n on n.oid = c.relnamespace`;

export function createWatchRegistry({ db, presence, log }: Deps): WatchRegistry {
  const schema = quoteIdentifier(db.schemas[0] as string);
  const functionName = `${schema}.platform_row_feed`;
  const watches = db.own('platform_row_feed_watches');
  const messages = db.own('platform_row_feed_messages');
  const body = renderFunctionBody(schema);

  async function begin(lockTimeout: string): Promise<void> {
    await db.query(LOCK);
    await db.query(`select set_config('lock_timeout', '${lockTimeout}', true)`);
  }

  async function createFunctionIfMissing(): Promise<void> {
    const { rows } = await db.query<{ body: string | null }>(
      'select (select prosrc from pg_proc where oid = to_regprocedure($1)) as body',
      [`${functionName}()`],
    );
    if (rows[0]?.body === body) return;
    await db.ddl(
      `create or replace function ${functionName}() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as ${quoteLiteral(body)}`,
    );
    // Otherwise any database role could put the trigger on a table of its own.
    await db.ddl(`revoke all on function ${functionName}() from public`);
  }

  const readRelations = async (table: string, args: readonly (readonly string[])[]): Promise<readonly Relation[]> => {
    const fitting = args.map((one) => Buffer.from(one.map((text) => `${text}\0`).join('')));
    return (await db.query<Relation>(RELATIONS, [table, fitting, `${functionName}()`])).rows;
  };

  async function watchOnce({ table, keyColumns, withOldRows }: WatchedTable): Promise<WatchResult> {
    await begin(LOCK_TIMEOUT);
    await createFunctionIfMissing();
    const [keysOnly, withOld] = [triggerArguments(false, keyColumns), triggerArguments(true, keyColumns)];
    const read = () => readRelations(table, withOldRows ? [withOld] : [keysOnly, withOld]);
    let relations = await read();
    const refusal =
      relations.length === 0 ? 'it does not exist' : relations.find((one) => one.refusal !== null)?.refusal;
    if (typeof refusal === 'string') throw fail('INVALID_PAYLOAD', `changes of ${table} are not announced: ${refusal}`);
    for (const { name, ready } of relations) {
      if (ready) continue;
      const needsOld = withOldRows || (await isWatchedWithOldRows(relations));
      for (const statement of renderTriggers(name, functionName, needsOld ? withOld : keysOnly))
        await db.ddl(statement);
    }
    if (relations.some(({ ready }) => !ready)) relations = await read();
    const oids = relations.map(({ oid }) => Number(oid));
    await db.query(
      db.sql`insert into ${watches} (process, relation, old_rows) select $1, unnest($2::oid[]), $3
        on conflict (process, relation) do update set old_rows = excluded.old_rows`,
      [presence.id, oids, withOldRows],
    );
    return { relations: oids, triggers: relations.map(({ triggers }) => triggers).join() };
  }

  const isWatchedWithOldRows = async (relations: readonly Relation[]): Promise<boolean> => {
    const { count } = await db.query(db.sql`select from ${watches} where old_rows and relation = any($1::oid[])`, [
      relations.map(({ oid }) => oid),
    ]);
    return count > 0;
  };

  async function forgetWatches(keep: readonly number[]): Promise<void> {
    const { rows } = await db.query<{ process: string }>(db.sql`select distinct process from ${watches}`);
    const dead = await presence.findDead(rows.map(({ process: id }) => id));
    await db.query(
      db.sql`delete from ${watches} where process = any($1::uuid[]) or process = $2 and not (relation = any($3::oid[]))`,
      [dead, presence.id, keep],
    );
  }

  /** The tables that have triggers of the feed and that no process watches. */
  const findUnwatched = async (): Promise<readonly string[]> => {
    const { rows } = await db.query<{ name: string }>(
      `select distinct quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name from pg_trigger t
        join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
        where t.tgfoid = to_regprocedure($1) and not exists (select from ${watches} w where w.relation = c.oid)`,
      [`${functionName}()`],
    );
    return rows.map(({ name }) => name);
  };

  async function dropTriggers(table: string): Promise<void> {
    for (const name of FEED_TRIGGER_NAMES) await db.ddl(`drop trigger if exists ${name} on ${table}`);
  }

  /** Messages are read as soon as they are announced; a minute is for a process that is very busy. */
  const deleteOldMessages = (): Promise<unknown> =>
    db.query(
      db.sql`delete from ${messages} where id in (select id from ${messages} where at < now() - interval '1 minute' limit 5000)`,
    );

  return {
    watch: (table) => db.transaction(() => watchOnce(table)),
    async sweep(keep) {
      await db.transaction(async () => {
        await begin(DROP_LOCK_TIMEOUT);
        await forgetWatches(keep);
      });
      for (const table of await findUnwatched()) {
        try {
          await db.transaction(async () => {
            await begin(DROP_LOCK_TIMEOUT);
            if ((await findUnwatched()).includes(table)) await dropTriggers(table);
          });
        } catch (error) {
          log.debug({ table, reason: (error as Error).message }, 'triggers that no process needs were not removed yet');
        }
      }
      await deleteOldMessages();
    },
    removeTriggers: () =>
      db.transaction(async () => {
        await begin(REMOVAL_LOCK_TIMEOUT);
        const { rows } = await db.query<{ count: string }>(
          'select count(*) as count from pg_trigger where tgfoid = to_regprocedure($1)',
          [`${functionName}()`],
        );
        await db.ddl(`drop function if exists ${functionName}() cascade`);
        await db.query(db.sql`delete from ${watches}`);
        return Number(rows[0]?.count);
      }),
  };
}
