import { RemediableError } from './connect-error-remedies.ts';
import type { Migration, RecordedMigration } from './contract.ts';
import { type LiveVersion, versionNumberOf } from './version-locks.ts';

/** A migration with the plugin that contributed it. */
export interface OwnedMigration {
  readonly owner: string;
  readonly value: Migration;
}

/** The version that runs a plugin's migrations: of the service for core plugins, else of the plugin; undefined where it is not loaded. */
export type VersionOf = (owner: string) => string | undefined;

const isOlder = (version: string, other: string): boolean => versionNumberOf(version) < versionNumberOf(other);

/**
 * Recorded migrations that this version does not know, by whether it works with what they left. Those of plugins that are not loaded do
 * not count. A migration that moved to another plugin is known by its id.
 */
export function findUnknownMigrations(
  steps: readonly OwnedMigration[],
  recorded: readonly RecordedMigration[],
  versionOf: VersionOf,
): { readonly tolerable: readonly RecordedMigration[]; readonly newer: readonly RecordedMigration[] } {
  const ids = new Set(steps.flatMap(({ value }) => [value.id, ...(value.replaces ?? [])]));
  const series = steps.flatMap(({ value }) => value.idPrefix ?? []);
  const unknown = recorded.filter(
    ({ owner, id }) =>
      versionOf(owner) !== undefined && !ids.has(id) && !series.some((prefix) => id.startsWith(prefix)),
  );
  // Archives of backups of earlier versions do not say it.
  const isNewer = ({ owner, worksSince }: RecordedMigration) =>
    !worksSince || isOlder(versionOf(owner) as string, worksSince);
  return { tolerable: unknown.filter((one) => !isNewer(one)), newer: unknown.filter(isNewer) };
}

/**
 * Stops the start where the database has a migration that this version does not know and does not work with: this version could
 * write wrong rows. Answers the migrations that it does not know, and works with.
 *
 * @throws RemediableError
 */
export function findTolerableMigrations(
  steps: readonly OwnedMigration[],
  recorded: readonly RecordedMigration[],
  versionOf: VersionOf,
): readonly RecordedMigration[] {
  const { tolerable, newer: all } = findUnknownMigrations(steps, recorded, versionOf);
  const [newer] = all;
  if (!newer) return tolerable;
  const { owner, id, version, worksSince } = newer;
  const since = worksSince ? `, and versions before ${worksSince} do not work with that` : '';
  throw new RemediableError(
    `a newer version${version === null ? '' : ` (${version})`} of ${owner} changed the tables (${id}), which this version (${versionOf(owner)}) does not know${since}`,
    'start the newer version, or restore a backup from before it; DB_ALLOW_NEWER_SCHEMA=true starts this version anyway, at your own risk',
  );
}

/**
 * Stops the start where another process runs a version that does not work with what a migration leaves: it would fail, or write wrong
 * rows, from the commit on.
 *
 * @throws RemediableError
 */
export function assertLiveVersionsWork(
  pending: readonly OwnedMigration[],
  live: readonly LiveVersion[],
  own: string,
): void {
  for (const { owner, value } of pending) {
    // What begins with a prefix only adds to tables.
    if (value.idPrefix !== undefined) continue;
    const needed = value.worksSince !== undefined && isOlder(value.worksSince, own) ? value.worksSince : own;
    const older = live.find(({ version }) => isOlder(version, needed));
    if (!older) continue;
    const count = older.processes === 1 ? 'a process' : `${older.processes} processes`;
    throw new RemediableError(
      `${count} of version ${older.version} still ${older.processes === 1 ? 'runs' : 'run'} on this database, and versions before ${needed} do not work with the change ${value.id} of ${owner}`,
      value.worksSince === undefined
        ? 'stop all processes of older versions, then start this one'
        : `stop all processes of older versions, then start this one; to upgrade without a pause, run version ${needed} on all of them first`,
    );
  }
}
