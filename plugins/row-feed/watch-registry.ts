import { fail, type Log } from '#kernel';
import type { ProcessPresence } from '../cluster/contract.ts';
import type { Db, TableHandle } from '../database/contract.ts';
import { quoteIdentifier, quoteLiteral } from '../database/library.ts';
import type { WatchedTable, WatchResult } from './contract.ts';
import {
  createFeedFunction,
  FEED_FUNCTION_PATTERN,
  FEED_TRIGGER_NAMES,
  renderMessageIdSql,
  renderMessageSql,
  renderTriggers,
  triggerArguments,
} from './trigger-function.ts';

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
/** Messages that one statement deletes. */
const DELETE_BATCH = 5000;
const LOCK = `select pg_advisory_xact_lock(hashtext('platform_row_feed'))`;

interface Relation {
  readonly oid: string;
  readonly name: string;
  readonly refusal: string | null;
  /** The triggers are there and announce what is needed. */
  readonly ready: boolean;
  /** The triggers are there, with or without rows before an update. */
  readonly announced: boolean;
  readonly triggers: string | null;
}

/** Arguments of triggers, of which one list has to be theirs. */
type Arguments = readonly (readonly string[])[];

const triggerNames = quoteLiteral(`{${FEED_TRIGGER_NAMES.join(',')}}`);

/** Functions of the feed in the schema `$1`. */
const FUNCTIONS = `select p.oid from pg_proc p where p.pronamespace = to_regnamespace($1) and p.proname ~ ${quoteLiteral(FEED_FUNCTION_PATTERN)}`;

/** Whether all triggers of the relation `c` are there, with arguments of the list `args`. */
const renderHasTriggers = (args: string): string =>
  `(select count(*) = ${FEED_TRIGGER_NAMES.length} from pg_trigger t where t.tgrelid = c.oid and t.tgname = any(${triggerNames})
      and t.tgenabled = 'A' and t.tgfoid in (${FUNCTIONS}) and t.tgargs = any(${args}::bytea[]))`;

/** The table `$2`, its partitions and children. `$3` are the arguments of triggers that fit, `$4` those of all triggers for this key. */
const RELATIONS = `with recursive relations as (
    select to_regclass($2)::oid as oid, true as root
    union select i.inhrelid, false from relations r join pg_inherits i on i.inhparent = r.oid)
  select c.oid::text as oid, quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name,
    ${renderHasTriggers('$3')} as ready,
    ${renderHasTriggers('$4')} as announced,
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
  /** Quoted. */
  readonly #schema: string;
  readonly #watches: TableHandle;
  readonly #messages: TableHandle;

  constructor(deps: Deps) {
    const { db } = deps;
    this.#deps = deps;
    this.#schema = quoteIdentifier(db.schemas[0] as string);
    this.#watches = db.own('platform_row_feed_watches');
    this.#messages = db.own('platform_row_feed_messages');
  }

  /**
   * One attempt to watch a table. Where its changes were not announced before, `many` is announced for it, and then the mark with this
   * id. @throws INVALID_PAYLOAD, and the error of PostgreSQL where it is locked
   */
  watch(table: WatchedTable, mark: string): Promise<WatchResult & { readonly hasMarked: boolean }> {
    return this.#deps.db.transaction(() => this.#watch(table, mark));
  }

  /** Forgets watches of this process on all but these relations, and those of dead processes; removes triggers that none needs. */
  async sweep(keep: readonly number[]): Promise<void> {
    const { db, log } = this.#deps;
    // First: a lock that others hold must not let old messages grow.
    await this.#deleteOldMessages();
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
    await db.transaction(async () => {
      await this.#begin(DROP_LOCK_TIMEOUT);
      for (const name of await this.#findUnusedFunctions()) await db.ddl(`drop function ${name}`);
    });
  }

  /** Removes all triggers. Answers how many there were. */
  removeTriggers(): Promise<number> {
    const { db } = this.#deps;
    return db.transaction(async () => {
      await this.#begin(REMOVAL_LOCK_TIMEOUT);
      const { rows } = await db.query<{ name: string; triggers: number }>(
        `select oid::regprocedure::text as name, (select count(*)::int from pg_trigger t where t.tgfoid = functions.oid) as triggers
          from (${FUNCTIONS}) functions`,
        [this.#schema],
      );
      for (const { name } of rows) await db.ddl(`drop function ${name} cascade`);
      await db.query(db.sql`delete from ${this.#watches}`);
      return rows.reduce((total, { triggers }) => total + triggers, 0);
    });
  }

  async #watch({ table, keyColumns, withOldRows }: WatchedTable, mark: string) {
    const { db, presence } = this.#deps;
    await this.#begin(LOCK_TIMEOUT);
    const [keysOnly, withOld] = [triggerArguments(false, keyColumns), triggerArguments(true, keyColumns)];
    const read = () => this.#readRelations(table, withOldRows ? [withOld] : [keysOnly, withOld], [keysOnly, withOld]);
    let relations = await read();
    assertCanBeWatched(table, relations);
    const missing = relations.filter(({ ready }) => !ready);
    const unannounced = missing.filter(({ announced }) => !announced);
    if (missing.length > 0) {
      const functionName = await this.#createFunctionIfMissing(keyColumns);
      const args = withOldRows || (await this.#isWatchedWithOldRows(relations)) ? withOld : keysOnly;
      for (const { name } of missing)
        for (const statement of renderTriggers(name, functionName, args)) await db.ddl(statement);
      if (unannounced.length > 0) await this.#announceMany(unannounced, mark);
      relations = await read();
    }
    const oids = relations.map(({ oid }) => Number(oid));
    await db.query(
      db.sql`insert into ${this.#watches} (process, relation, old_rows) select $1, unnest($2::oid[]), $3
        on conflict (process, relation) do update set old_rows = excluded.old_rows`,
      [presence.id, oids, withOldRows],
    );
    const triggers = relations.map((relation) => relation.triggers).join();
    return { relations: oids, triggers, hasMarked: unannounced.length > 0 };
  }

  /** What changed while there were no triggers is unknown, so a client that comes back with an earlier position has to read again. */
  async #announceMany(relations: readonly Relation[], mark: string): Promise<void> {
    const { db } = this.#deps;
    const many = renderMessageSql('id', 'relation', 'many');
    await db.query(
      `with relations as materialized (select ${renderMessageIdSql(this.#schema)} as id, unnest($1::oid[]) as relation)
        select ${many} from relations`,
      [relations.map(({ oid }) => oid)],
    );
    await db.query(`select ${renderMessageSql('$1::text', '0', 'mark')}`, [mark]);
  }

  async #begin(lockTimeout: string): Promise<void> {
    const { db } = this.#deps;
    await db.query(LOCK);
    await db.query(`select set_config('lock_timeout', '${lockTimeout}', true)`);
  }

  /** Answers the name of the function for tables with this key. */
  async #createFunctionIfMissing(keyColumns: readonly string[]): Promise<string> {
    const { db } = this.#deps;
    const { name, body } = createFeedFunction(this.#schema, keyColumns);
    const qualified = `${this.#schema}.${name}`;
    const { rows } = await db.query<{ exists: boolean; public: boolean }>(
      `select to_regprocedure($1) is not null as exists, exists (select from pg_proc p where p.oid = to_regprocedure($1)
        and pg_has_role(p.proowner, 'usage') and has_function_privilege('public', p.oid, 'execute')) as public`,
      [`${qualified}()`],
    );
    if (rows[0]?.exists && !rows[0].public) return qualified;
    if (!rows[0]?.exists)
      await db.ddl(
        `create function ${qualified}() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as ${quoteLiteral(body)}`,
      );
    // Otherwise any database role could put the trigger on a table of its own. A restore without privileges leaves this out.
    await db.ddl(`revoke all on function ${qualified}() from public`);
    return qualified;
  }

  async #readRelations(table: string, fitting: Arguments, all: Arguments): Promise<readonly Relation[]> {
    const toBytes = (args: Arguments) => args.map((one) => Buffer.from(one.map((text) => `${text}\0`).join('')));
    const parameters = [this.#schema, table, toBytes(fitting), toBytes(all)];
    return (await this.#deps.db.query<Relation>(RELATIONS, parameters)).rows;
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
        where t.tgfoid in (${FUNCTIONS}) and not exists (select from ${this.#watches} w where w.relation = c.oid)`,
      [this.#schema],
    );
    return rows.map(({ name }) => name);
  }

  async #findUnusedFunctions(): Promise<readonly string[]> {
    const { rows } = await this.#deps.db.query<{ name: string }>(
      `select oid::regprocedure::text as name from (${FUNCTIONS}) functions
        where not exists (select from pg_trigger t where t.tgfoid = functions.oid)`,
      [this.#schema],
    );
    return rows.map(({ name }) => name);
  }

  async #dropTriggers(table: string): Promise<void> {
    for (const name of FEED_TRIGGER_NAMES) await this.#deps.db.ddl(`drop trigger if exists ${name} on ${table}`);
  }

  /** Messages are read as soon as they are announced; a minute is for a process that is very busy. */
  async #deleteOldMessages(): Promise<void> {
    const { db } = this.#deps;
    const DELETE_OLD = db.sql`delete from ${this.#messages} where id in (
      select id from ${this.#messages} where at < now() - interval '1 minute' limit $1)`;
    while ((await db.query(DELETE_OLD, [DELETE_BATCH])).count === DELETE_BATCH);
  }
}

/** @throws INVALID_PAYLOAD */
function assertCanBeWatched(table: string, relations: readonly Relation[]): void {
  const refusal = relations.length === 0 ? 'it does not exist' : relations.find((one) => one.refusal !== null)?.refusal;
  if (typeof refusal === 'string') throw fail('INVALID_PAYLOAD', `changes of ${table} are not announced: ${refusal}`);
}
