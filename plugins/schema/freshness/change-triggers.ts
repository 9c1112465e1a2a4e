import type { Log } from '#kernel';
import { notifySql } from '../../cluster/library.ts';
import type { Db } from '../../database/contract.ts';
import { quoteIdentifier, quoteLiteral } from '../../database/library.ts';
import { SCHEMA_CHANNEL } from '../contract.ts';

const NOTIFY = `${notifySql(SCHEMA_CHANNEL)};`;
const REGISTRY_TABLES = ['platform_collections', 'platform_fields', 'platform_relations'];
/** Name of the event trigger. */
export const EVENT_TRIGGER = 'platform_schema_watch';
/** SQL: whether the event trigger is there and not switched off. */
export const EVENT_TRIGGER_WORKS = `exists (select from pg_event_trigger where evtname = '${EVENT_TRIGGER}' and evtenabled in ('O', 'A'))`;
/** Functions of the triggers. */
export const SCHEMA_FUNCTIONS = { commands: 'platform_schema_changed', registry: 'platform_registry_changed' } as const;

// Temporary tables are not served. The event trigger cannot list what a DROP removed, so every DROP is announced.
const COMMAND_TRIGGER_BODY = `begin
  if tg_tag not like 'DROP%' and not exists (
    select from pg_event_trigger_ddl_commands() where schema_name is distinct from 'pg_temp') then
    return;
  end if;
  ${NOTIFY}
exception when others then
  null; -- other people's commands must never fail for our sake
end`;

const ROW_TRIGGER_BODY = `begin
  ${NOTIFY}
  return null;
exception when others then
  return null;
end`;

/**
 * Installs triggers with which the database announces changes of tables and registry rows on the bus, also changes by
 * other programs. False where it cannot: an event trigger needs a superuser, or the substitute role of a hosted
 * database.
 */
export async function installChangeTriggers(db: Db, log: Log): Promise<boolean> {
  const schema = quoteIdentifier(db.schemas[0] as string);
  // Processes that start at the same time would change the same catalog rows.
  const takeLock = `select pg_advisory_xact_lock(hashtext('${EVENT_TRIGGER}'))`;
  try {
    await db.transaction(async () => {
      await db.query(takeLock);
      const { commands, rows, triggers } = await readWatchState(db);
      if (commands !== COMMAND_TRIGGER_BODY)
        await db.ddl(renderFunction(`${schema}.${SCHEMA_FUNCTIONS.commands}`, 'event_trigger', COMMAND_TRIGGER_BODY));
      if (rows !== ROW_TRIGGER_BODY)
        await db.ddl(renderFunction(`${schema}.${SCHEMA_FUNCTIONS.registry}`, 'trigger', ROW_TRIGGER_BODY));
      for (const table of REGISTRY_TABLES.filter((name) => !triggers.includes(name))) {
        await db.ddl(
          `create trigger platform_registry_changed after insert or update or delete or truncate on ${schema}.${quoteIdentifier(table)}
          for each statement execute function ${schema}.${SCHEMA_FUNCTIONS.registry}()`,
        );
      }
    });
    await db.transaction(async () => {
      await db.query(takeLock);
      if ((await readWatchState(db)).watched) return;
      await db.ddl(
        `create event trigger ${EVENT_TRIGGER} on ddl_command_end execute function ${schema}.${SCHEMA_FUNCTIONS.commands}()`,
      );
    });
    return true;
  } catch (error) {
    log.info(
      { reason: (error as Error).message },
      'the change triggers could not be installed: each request checks the catalogs for changes',
    );
    return false;
  }
}

const renderFunction = (name: string, returns: string, body: string): string =>
  `create or replace function ${name}() returns ${returns} language plpgsql set search_path = pg_catalog as ${quoteLiteral(body)}`;

interface WatchState {
  readonly commands: string | null;
  readonly rows: string | null;
  readonly triggers: readonly string[];
  readonly watched: boolean;
}

async function readWatchState(db: Db): Promise<WatchState> {
  const source = (name: string) =>
    `(select p.prosrc from pg_proc p where p.pronamespace = to_regnamespace(quote_ident($1)) and p.proname = '${name}')`;
  const { rows } = await db.query<WatchState>(
    `select ${source(SCHEMA_FUNCTIONS.commands)} as commands, ${source(SCHEMA_FUNCTIONS.registry)} as rows,
      array(select c.relname::text from pg_trigger t join pg_class c on c.oid = t.tgrelid
        where c.relnamespace = to_regnamespace(quote_ident($1)) and t.tgname = 'platform_registry_changed') as triggers,
      ${EVENT_TRIGGER_WORKS} as watched`,
    [db.schemas[0]],
  );
  return rows[0] as WatchState;
}
