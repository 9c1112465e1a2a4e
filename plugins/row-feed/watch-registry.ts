import { fail, type Log } from '#kernel';
import type { ProcessPresence } from '../cluster/contract.ts';
import type { Db, TableHandle } from '../database/contract.ts';
import { quoteIdentifier, quoteLiteral } from '../database/library.ts';
import { ROW_FEED_FUNCTION } from '../schema/library.ts';
import type { WatchedTable, WatchResult } from './contract.ts';
import { FEED_TRIGGER_NAMES, renderFunctionBody, renderTriggers, triggerArguments } from './trigger-function.ts';

interface Deps {
  readonly db: Db;
  readonly presence: Pick<ProcessPresence, 'id' | 'findDead'>;
  readonly log: Log;
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

/** Which tables the live processes watch, and the triggers for them. */
export class WatchRegistry {
  readonly #deps: Deps;
  readonly #functionName: string;
  readonly #functionBody: string;
  readonly #watches: TableHandle;
  readonly #messages: TableHandle;

  constructor(deps: Deps) {
    const { db } = deps;
    const schema = quoteIdentifier(db.schemas[0] as string);
    this.#deps = deps;
    this.#functionName = `${schema}.${ROW_FEED_FUNCTION}`;
    this.#functionBody = renderFunctionBody(schema);
    this.#watches = db.own('platform_row_feed_watches');
    this.#messages = db.own('platform_row_feed_messages');
  }

  /** One attempt to watch a table. @throws INVALID_PAYLOAD, and the error of PostgreSQL where it is locked */
  watch(table: WatchedTable): Promise<WatchResult> {
    return this.#deps.db.transaction(() => this.#watch(table));
  }

  /** Forgets watches of this process on all but these relations, and those of dead processes; removes triggers that none needs. */
  async sweep(keep: readonly number[]): Promise<void> {
    const { db, log } = this.#deps;
    await db.transaction(async () => {
      await this.#begin(DROP_LOCK_TIMEOUT);
      await this.#forgetWatches(keep);
    });
    for (const table of await this.#findUnwatched()) {
      try {
        await db.transaction(async () => {
          await this.#begin(DROP_LOCK_TIMEOUT);
          if ((await this.#findUnwatched()).includes(table)) await this.#dropTriggers(table);
        });
      } catch (error) {
        log.debug({ table, reason: (error as Error).message }, 'triggers that no process needs were not removed yet');
      }
    }
    await this.#deleteOldMessages();
  }

  /** Removes all triggers. Answers how many there were. */
  removeTriggers(): Promise<number> {
    const { db } = this.#deps;
    return db.transaction(async () => {
      await this.#begin(REMOVAL_LOCK_TIMEOUT);
      const { rows } = await db.query<{ count: string }>(
        'select count(*) as count from pg_trigger where tgfoid = to_regprocedure($1)',
        [`${this.#functionName}()`],
      );
      await db.ddl(`drop function if exists ${this.#functionName}() cascade`);
      await db.query(db.sql`delete from ${this.#watches}`);
      return Number(rows[0]?.count);
    });
  }

  async #watch({ table, keyColumns, withOldRows }: WatchedTable): Promise<WatchResult> {
    const { db, presence } = this.#deps;
    await this.#begin(LOCK_TIMEOUT);
    await this.#createFunctionIfMissing();
    const [keysOnly, withOld] = [triggerArguments(false, keyColumns), triggerArguments(true, keyColumns)];
    const read = () => this.#readRelations(table, withOldRows ? [withOld] : [keysOnly, withOld]);
    let relations = await read();
    assertCanBeWatched(table, relations);
    const missing = relations.filter(({ ready }) => !ready);
    if (missing.length > 0) {
      const args = withOldRows || (await this.#isWatchedWithOldRows(relations)) ? withOld : keysOnly;
      for (const { name } of missing)
        for (const statement of renderTriggers(name, this.#functionName, args)) await db.ddl(statement);
      relations = await read();
    }
    const oids = relations.map(({ oid }) => Number(oid));
    await db.query(
      db.sql`insert into ${this.#watches} (process, relation, old_rows) select $1, unnest($2::oid[]), $3
        on conflict (process, relation) do update set old_rows = excluded.old_rows`,
      [presence.id, oids, withOldRows],
    );
    return { relations: oids, triggers: relations.map(({ triggers }) => triggers).join() };
  }

  async #begin(lockTimeout: string): Promise<void> {
    const { db } = this.#deps;
    await db.query(LOCK);
    await db.query(`select set_config('lock_timeout', '${lockTimeout}', true)`);
  }

  async #createFunctionIfMissing(): Promise<void> {
    const { db } = this.#deps;
    const name = `${this.#functionName}()`;
    const { rows } = await db.query<{ body: string | null }>(
      'select (select prosrc from pg_proc where oid = to_regprocedure($1)) as body',
      [name],
    );
    if (rows[0]?.body === this.#functionBody) return;
    await db.ddl(
      `create or replace function ${name} returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as ${quoteLiteral(this.#functionBody)}`,
    );
    // Otherwise any database role could put the trigger on a table of its own.
    await db.ddl(`revoke all on function ${name} from public`);
  }

  async #readRelations(table: string, args: readonly (readonly string[])[]): Promise<readonly Relation[]> {
    const fitting = args.map((one) => Buffer.from(one.map((text) => `${text}\0`).join('')));
    return (await this.#deps.db.query<Relation>(RELATIONS, [table, fitting, `${this.#functionName}()`])).rows;
  }

  async #isWatchedWithOldRows(relations: readonly Relation[]): Promise<boolean> {
    const { db } = this.#deps;
    const { count } = await db.query(
      db.sql`select from ${this.#watches} where old_rows and relation = any($1::oid[])`,
      [relations.map(({ oid }) => oid)],
    );
    return count > 0;
  }

  async #forgetWatches(keep: readonly number[]): Promise<void> {
    const { db, presence } = this.#deps;
    const { rows } = await db.query<{ process: string }>(db.sql`select distinct process from ${this.#watches}`);
    const dead = await presence.findDead(rows.map(({ process: id }) => id));
    await db.query(
      db.sql`delete from ${this.#watches} where process = any($1::uuid[]) or process = $2 and not (relation = any($3::oid[]))`,
      [dead, presence.id, keep],
    );
  }

  /** The tables that have triggers of the feed and that no process watches. */
  async #findUnwatched(): Promise<readonly string[]> {
    const { rows } = await this.#deps.db.query<{ name: string }>(
      `select distinct quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name from pg_trigger t
        join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
        where t.tgfoid = to_regprocedure($1) and not exists (select from ${this.#watches} w where w.relation = c.oid)`,
      [`${this.#functionName}()`],
    );
    return rows.map(({ name }) => name);
  }

  async #dropTriggers(table: string): Promise<void> {
    for (const name of FEED_TRIGGER_NAMES) await this.#deps.db.ddl(`drop trigger if exists ${name} on ${table}`);
  }

  /** Messages are read as soon as they are announced; a minute is for a process that is very busy. */
  async #deleteOldMessages(): Promise<void> {
    const { db } = this.#deps;
    await db.query(
      db.sql`delete from ${this.#messages} where id in (select id from ${this.#messages} where at < now() - interval '1 minute' limit 5000)`,
    );
  }
}

/** @throws INVALID_PAYLOAD */
function assertCanBeWatched(table: string, relations: readonly Relation[]): void {
  const refusal = relations.length === 0 ? 'it does not exist' : relations.find((one) => one.refusal !== null)?.refusal;
  if (typeof refusal === 'string') throw fail('INVALID_PAYLOAD', `changes of ${table} are not announced: ${refusal}`);
}
