import { type CommandArguments, EXIT, printError } from './command.ts';
import type { BackupDeps } from './deps.ts';
import { createProgress } from './progress.ts';
import type { RestoreSummary } from './restore/restore-backup.ts';

/** `restore <file>`: restores an archive into an empty database and empty storage locations. */
export const createRestoreCommand = (deps: BackupDeps) => ({
  name: 'restore',
  about: 'restores an archive of backup into an empty database and empty storage locations',
  usage: '<file> [--overwrite] [--no-owner [--no-privileges]] [--skip <storage location>] [--json]',
  flags: ['overwrite', 'no-owner', 'no-privileges', 'json'],
  ofFailure: 'The database was not changed',
  async run({ file, flags, skips }: CommandArguments, signal: AbortSignal): Promise<number> {
    const begin = performance.now();
    const options = {
      file,
      overwrites: flags.has('overwrite'),
      isWithoutOwners: flags.has('no-owner'),
      isWithoutPrivileges: flags.has('no-privileges'),
      skips,
    };
    const { restoreBackup } = await import('./restore/restore-backup.ts');
    const summary = await restoreBackup(deps, options, createProgress(printError), signal);
    const seconds = Math.round(performance.now() - begin) / 1000;
    for (const line of summary.damaged) printError(line);
    const text = flags.has('json')
      ? JSON.stringify({ file, seconds, ...summary })
      : renderSummary(seconds, summary, options);
    process.stdout.write(`${text}\n`);
    return summary.damaged.length > 0 ? EXIT.partial : EXIT.done;
  },
});

function renderSummary(
  seconds: number,
  { snapshot, objects, damaged, leftOut, missingRoles }: RestoreSummary,
  { isWithoutPrivileges }: { readonly isWithoutPrivileges: boolean },
): string {
  return [
    `Restored the state of ${snapshot} with ${objects} objects, in ${seconds.toFixed(1)} s.`,
    ...(leftOut.length > 0
      ? [`Only a superuser may create the event triggers that were left out: ${leftOut.join(', ')}.`]
      : []),
    ...(missingRoles.length > 0
      ? [`Privileges were left out, all grants and revokes, since the server has no role ${missingRoles.join(', ')}.`]
      : isWithoutPrivileges
        ? ['Privileges were left out: all grants and revokes.']
        : []),
    ...(damaged.length > 0 ? [`${damaged.length} objects were missing or damaged when the backup was taken.`] : []),
    'Start the service with the SECRET and the SECRETS_ENCRYPTION_KEY that it had: it migrates what is older.',
  ].join('\n');
}
