import { parseArgs } from 'node:util';
import type { KernelCommand } from '#kernel';
import type { ProcessPresence } from '../../cluster/contract.ts';
import type { DatabaseMaintenance, Db } from '../../database/contract.ts';
import { findOwnObjects, type OwnObjects } from './own-objects.ts';

interface Deps {
  readonly db: Db;
  readonly maintenance: Pick<DatabaseMaintenance, 'hasDatabase' | 'open' | 'label' | 'migrations'>;
  readonly presence: Pick<ProcessPresence, 'findOthers'>;
  /** Names of all system collections, internal ones too. */
  readonly systemCollections: () => ReadonlySet<string>;
}

const EXIT = { done: 0, failed: 1, usage: 2, refused: 3 } as const;
const USAGE = 'Usage: database:uninstall [--yes]';
/** Milliseconds that a statement waits for other programs that use a table. */
const LOCK_TIMEOUT = 10_000;

/**
 * `database:uninstall`: removes what the service added to the database, in one transaction, and nothing else. Tables of others, also those
 * that were created through the service, stay, and so do the objects in storage.
 */
export const createUninstallCommand = (deps: Deps): KernelCommand => ({
  name: 'database:uninstall',
  about:
    'removes what the service added to the database and nothing else; without --yes it only lists it: database:uninstall [--yes]',
  async run(args) {
    const isConfirmed = parseConfirmation(args);
    if (isConfirmed === undefined) return printError(USAGE, EXIT.usage);
    if (!(await deps.maintenance.hasDatabase())) return print(['There is no database yet.'], EXIT.done);
    await deps.maintenance.open();
    const label = deps.maintenance.label();
    const { recorded, unloaded } = await deps.maintenance.migrations();
    // Without the record of a migration, tables with the names of the service belong to another program: a start refuses such a database.
    if (recorded.length === 0) return print([`There is nothing of the service in ${label}.`], EXIT.done);
    const objects = await findOwnObjects(deps.db, deps.systemCollections());
    const lines = renderObjects(objects);
    const packages = new Set(unloaded.map(({ owner }) => owner));
    const stays = [...packages].map((name) => `Tables that migrations of ${name} created stay: it is not loaded.`);
    const others = await deps.presence.findOthers([]);
    if (others.length > 0)
      return printError(`${others.length} processes of the service use ${label}: stop them first.`, EXIT.failed);
    const foreign = objects.eventTriggers.find(({ isDroppable }) => !isDroppable);
    if (foreign)
      return printError(
        `Another user owns the event trigger ${foreign.name}. Let its owner or a superuser run: drop event trigger ${foreign.name}`,
        EXIT.failed,
      );
    if (!isConfirmed) {
      const hint = `Nothing was removed from ${label}. With --yes this is deleted, with all that is in it. Take a backup before.`;
      return print([...lines, ...stays, hint], EXIT.refused);
    }
    return removeObjects(deps.db, objects, label, stays);
  },
});

function parseConfirmation(args: readonly string[]): boolean | undefined {
  try {
    return (
      parseArgs({ args: [...args], options: { yes: { type: 'boolean', short: 'y' } }, strict: true }).values.yes ??
      false
    );
  } catch {
    return undefined;
  }
}

const renderObjects = (objects: OwnObjects): readonly string[] => [
  ...objects.eventTriggers.map(({ name }) => `event trigger ${name}`),
  ...objects.triggers.map(([name, table]) => `trigger ${name} on ${table}`),
  ...objects.foreignKeys.map(([name, table]) => `foreign key ${name} of ${table}; its column and values stay`),
  ...objects.tables.map((name) => `table ${name}`),
  ...objects.functions.map((name) => `function ${name}`),
  ...objects.schemas.map((name) => `schema ${name}, with all that is in it`),
];

/** Nothing is dropped by `cascade` but the schemas of the service: what others have built on its tables is theirs. */
function renderStatements(objects: OwnObjects): readonly string[] {
  const list = (what: string, names: readonly string[]) =>
    names.length > 0 ? [`drop ${what} ${names.join(', ')}`] : [];
  return [
    ...objects.eventTriggers.map(({ name }) => `drop event trigger ${name}`),
    ...objects.triggers.map(([name, table]) => `drop trigger ${name} on ${table}`),
    ...objects.foreignKeys.map(([name, table]) => `alter table ${table} drop constraint ${name}`),
    ...list('table', objects.tables),
    ...list('function', objects.functions),
    ...objects.schemas.map((name) => `drop schema ${name} cascade`),
  ];
}

async function removeObjects(db: Db, objects: OwnObjects, label: string, stays: readonly string[]): Promise<number> {
  const lines = renderObjects(objects);
  try {
    await db.transaction(async () => {
      await db.query(`select set_config('lock_timeout', '${LOCK_TIMEOUT}', true)`);
      for (const statement of renderStatements(objects)) await db.ddl(statement);
    });
  } catch (error) {
    const { code, detail, message } = error as { code?: string; detail?: string; message: string };
    const remedy = code === '2BP01' ? 'Drop what depends on it first.' : 'Correct this and repeat the command.';
    return printError(
      `Nothing was removed from ${label}: ${message}\n${detail ? `${detail}\n` : ''}${remedy}`,
      EXIT.failed,
    );
  }
  const ending = `Removed from ${label}. Files in storage and the data folder are still there.`;
  return print([...lines, ...stays, ending], EXIT.done);
}

function print(lines: readonly string[], code: number): number {
  process.stdout.write(`${lines.join('\n')}\n`);
  return code;
}

function printError(text: string, code: number): number {
  process.stderr.write(`${text}\n`);
  return code;
}
