import { writeFile } from 'node:fs/promises';
import type { BackupDeps } from '../deps.ts';
import type { PostgresPrograms } from '../postgres/find-programs.ts';
import { runPostgresProgram } from '../postgres/run-program.ts';
import { assertUnused, type RestoreTarget, type TargetOptions } from './empty-target.ts';

interface RestoreOptions extends Pick<TargetOptions, 'overwrites' | 'isWithoutOwners' | 'isWithoutPrivileges'> {
  readonly programs: PostgresPrograms;
  readonly dump: string;
  /** Path of a temporary file. */
  readonly list: string;
  readonly target: RestoreTarget;
  readonly signal: AbortSignal;
}

/**
 * Restores the dump in one transaction: all of it, or nothing. Answers the event triggers that were left out, since only a superuser
 * may create them. @throws BackupError
 */
export async function restoreDatabase(deps: BackupDeps, options: RestoreOptions): Promise<readonly string[]> {
  const { programs, dump, list, target, overwrites, isWithoutOwners, isWithoutPrivileges, signal } = options;
  const environment = deps.maintenance.programEnvironment();
  const run = (args: readonly string[]) => runPostgresProgram({ program: programs.restore, args, environment, signal });
  const { text, leftOut } = selectContents(await run(['--list', dump]), target);
  await writeFile(list, text, { mode: 0o600 });
  // Files take a while: a process may have started meanwhile.
  await assertUnused(deps);
  await run([
    '--single-transaction',
    '--exit-on-error',
    '--no-password',
    ...(overwrites ? ['--clean', '--if-exists'] : []),
    ...(isWithoutOwners ? ['--no-owner'] : []),
    // A grant to a role that the server lacks would fail.
    ...(isWithoutPrivileges || target.missingRoles.length > 0 ? ['--no-privileges'] : []),
    `--use-list=${list}`,
    `--dbname=${environment.PGDATABASE ?? environment.PGUSER}`,
    dump,
  ]);
  // The database is restored: a failure of this is none of the restore.
  await analyze(deps).catch((error: Error) =>
    process.stderr.write(`no statistics were made, so run "analyze" in the database: ${error.message}\n`),
  );
  return leftOut;
}

/** The contents of the dump without what is there already, and without what the user may not create. */
function selectContents(
  contents: string,
  { isSuperuser, schemas }: RestoreTarget,
): { readonly text: string; readonly leftOut: readonly string[] } {
  const leftOut: string[] = [];
  const lines = contents.split('\n').map((line) => {
    const schema = /^\d+; \d+ \d+ SCHEMA - (\S+) /.exec(line)?.[1];
    const trigger = /^\d+; \d+ \d+ EVENT TRIGGER - (\S+) /.exec(line)?.[1];
    if (trigger !== undefined && !isSuperuser) leftOut.push(trigger);
    const isDropped = (schema !== undefined && schemas.includes(schema)) || (trigger !== undefined && !isSuperuser);
    return isDropped ? `;${line}` : line;
  });
  return { text: lines.join('\n'), leftOut };
}

/** A restored database has no statistics, and would be slow until autovacuum has made them. */
async function analyze({ connections }: BackupDeps): Promise<void> {
  const connection = await connections.openDedicated(() => {});
  try {
    await connection.query('set statement_timeout to 0');
    await connection.query('analyze');
  } finally {
    await connection.end();
  }
}
