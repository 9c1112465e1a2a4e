import { type CommandArguments, EXIT, printError } from './command.ts';
import type { BackupDeps } from './deps.ts';
import { createProgress, renderBytes } from './progress.ts';
import type { BackupSummary } from './take/take-backup.ts';

/** What an archive never holds, since it would open what it protects. */
const NOT_INCLUDED =
  'Not in the archive: the settings, above all SECRET and SECRETS_ENCRYPTION_KEY, and the packages of EXTENSIONS_PATH. Save them apart.';

/** `backup <file>`: saves the database and its files as they are at one moment. */
export const createBackupCommand = (deps: BackupDeps) => ({
  name: 'backup',
  about: 'saves the database and its files as they are at one moment, while the service runs',
  usage: '<file, or -> [--overwrite] [--skip <storage location>] [--json]',
  flags: ['overwrite', 'json'],
  ofFailure: 'No backup was written',
  async run({ file, flags, skips }: CommandArguments, signal: AbortSignal): Promise<number> {
    const begin = performance.now();
    // A start of the service loads neither this nor the library of tar files.
    const { takeBackup } = await import('./take/take-backup.ts');
    const summary = await takeBackup(
      deps,
      { file, overwrites: flags.has('overwrite'), skips },
      createProgress(printError),
      signal,
    );
    for (const line of summary.damaged) printError(line);
    const seconds = Math.round(performance.now() - begin) / 1000;
    // Standard output may be the archive.
    const print = file === '-' ? printError : (line: string) => void process.stdout.write(`${line}\n`);
    print(flags.has('json') ? JSON.stringify({ file, seconds, ...summary }) : renderSummary(file, seconds, summary));
    printError(NOT_INCLUDED);
    return summary.damaged.length > 0 ? EXIT.partial : EXIT.done;
  },
});

function renderSummary(file: string, seconds: number, summary: BackupSummary): string {
  const { snapshot, dumpBytes, objects, bytes, damaged, skipped } = summary;
  return [
    `${file}: the state of ${snapshot}, saved in ${seconds.toFixed(1)} s.`,
    `Database: ${renderBytes(dumpBytes)}. Files: ${objects} objects, ${renderBytes(bytes)}.`,
    ...(skipped.length > 0 ? [`Left out: the objects of ${skipped.join(', ')}.`] : []),
    ...(damaged.length > 0
      ? [`${damaged.length} objects were missing or damaged in storage before: the archive lists them in missing.txt.`]
      : []),
  ].join('\n');
}
