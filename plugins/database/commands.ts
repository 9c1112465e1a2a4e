import type { KernelCommand } from '#kernel';
import type { DatabaseMaintenance } from './contract.ts';
import type { DatabaseConnectionPool } from './managed-pool.ts';

/** Exit codes of `database:status`, by which a deployment decides what to do. */
const EXIT = { done: 0, failed: 1, usage: 2, pending: 3, newer: 4 } as const;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const printError = (line: string): void => void process.stderr.write(`${line}\n`);

/** `database:status` and `database:migrate`. */
export const createDatabaseCommands = (
  maintenance: DatabaseMaintenance,
  connection: Pick<DatabaseConnectionPool, 'version'>,
): readonly KernelCommand[] => [
  {
    name: 'database:status',
    about:
      'tells which migrations a start would run, and changes nothing; ends with 3 where there are some, 4 where the tables are newer: database:status [--json]',
    run: (args) => runStatus(maintenance, connection, args),
  },
  {
    name: 'database:migrate',
    about: 'runs the migrations of the service and ends',
    needs: 'migrate',
    check: (args) => (args.length > 0 ? usage('database:migrate') : undefined),
    async run() {
      const { recorded } = await maintenance.migrations();
      print(`The tables of the service are up to date in ${maintenance.label()}: ${recorded.length} migrations.`);
      return EXIT.done;
    },
  },
];

async function runStatus(
  maintenance: DatabaseMaintenance,
  connection: Pick<DatabaseConnectionPool, 'version'>,
  args: readonly string[],
): Promise<number> {
  if (args.some((arg) => arg !== '--json')) return usage('database:status [--json]');
  const hasDatabase = await maintenance.hasDatabase();
  if (hasDatabase) await maintenance.open();
  const { recorded, pending, newer } = await maintenance.migrations();
  const database = hasDatabase ? maintenance.label() : null;
  const postgres = hasDatabase ? Math.floor(connection.version / 10_000) : null;
  if (args.includes('--json')) print(JSON.stringify({ database, postgres, recorded: recorded.length, pending, newer }));
  else if (!hasDatabase) print('There is no database yet: the first start creates the embedded one.');
  else {
    print(`${database} (PostgreSQL ${postgres}): ${recorded.length} migrations are recorded.`);
    for (const { owner, id } of pending) print(`pending: ${owner} ${id}`);
    for (const { owner, id } of newer) print(`newer than this version: ${owner} ${id}`);
    if (newer.length > 0) print('Start the newer version, or restore a backup from before it.');
    else print(pending.length > 0 ? 'database:migrate, or a start, runs them.' : 'Nothing is pending.');
  }
  if (newer.length > 0) return EXIT.newer;
  return pending.length > 0 ? EXIT.pending : EXIT.done;
}

function usage(text: string): number {
  printError(`Usage: ${text}`);
  return EXIT.usage;
}
