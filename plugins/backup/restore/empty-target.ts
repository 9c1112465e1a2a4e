import type { Db } from '../../database/contract.ts';
import type { StorageService } from '../../storage/contract.ts';
import type { BackupManifest } from '../archive/format.ts';
import type { BackupDeps } from '../deps.ts';
import { BackupError } from '../failures.ts';

/** What a restore asks of its target. */
export interface TargetOptions {
  /** Replaces what is there. */
  readonly overwrites: boolean;
  /** Without owners: all belongs to the database user of the service. */
  readonly isWithoutOwners: boolean;
  /** Without grants and revokes. */
  readonly isWithoutPrivileges: boolean;
  /** Locations whose objects are left out. */
  readonly skips: readonly string[];
}

/** What the target allows. */
export interface RestoreTarget {
  readonly isSuperuser: boolean;
  readonly schemas: readonly string[];
  /** Roles of the archive that the server lacks; none but where the restore is without owners. */
  readonly missingRoles: readonly string[];
}

interface TargetRow {
  readonly relations: number;
  readonly superuser: boolean;
  readonly roles: readonly string[];
  readonly schemas: readonly string[];
}

/**
 * Asserts that the archive can be restored here, before anything is changed: versions, roles, processes of the service, an empty
 * database and empty storage locations.
 * @throws BackupError with what to do
 */
export async function assertRestorable(
  deps: BackupDeps,
  manifest: BackupManifest,
  options: TargetOptions,
): Promise<RestoreTarget> {
  const label = deps.maintenance.label();
  assertVersions(deps, manifest);
  const target = await readTarget(deps.db);
  if (target.relations > 0 && !options.overwrites)
    throw new BackupError(
      `${label} is not empty: it has ${target.relations} tables, views and sequences`,
      'name an empty database in the settings DB_*, or replace what the archive has, too, by --overwrite',
    );
  if (target.relations > 0) await assertNoOtherMigrations(deps, manifest);
  const missingRoles = manifest.database.roles.filter((role) => !target.roles.includes(role));
  if (missingRoles.length > 0 && !options.isWithoutOwners)
    throw new BackupError(
      `the server has no role ${missingRoles.join(', ')}, which own or may use what is restored`,
      'create them, or restore with --no-owner: all belongs to the database user of the service then, without the grants and revokes of the archive',
    );
  await assertUnused(deps);
  await openStorage(deps.storage, manifest, options);
  return { isSuperuser: target.superuser, schemas: target.schemas, missingRoles };
}

/** Asserts that no process of the service uses the database. @throws BackupError */
export async function assertUnused({ presence, maintenance }: Pick<BackupDeps, 'presence' | 'maintenance'>) {
  const others = await presence.findOthers([]);
  if (others.length > 0)
    throw new BackupError(`${others.length} processes of the service use ${maintenance.label()}`, 'stop them first');
}

/**
 * Asserts that the database has no migration that the archive lacks: what it created would stay beside the older record of migrations,
 * and the next upgrade would create it again and fail.
 * @throws BackupError
 */
async function assertNoOtherMigrations({ maintenance }: BackupDeps, { database }: BackupManifest): Promise<void> {
  const archived = new Set(database.migrations.map(({ owner, id }) => `${owner}\0${id}`));
  const { recorded } = await maintenance.migrations();
  const [other, ...more] = recorded.filter(({ owner, id }) => !archived.has(`${owner}\0${id}`));
  if (other)
    throw new BackupError(
      `${maintenance.label()} has ${more.length + 1} migrations that the archive lacks, such as ${other.owner} ${other.id}: their tables would stay, and the next upgrade would fail`,
      'restore into an empty database: name a new one in the settings DB_*',
    );
}

function assertVersions({ maintenance, serverVersion }: BackupDeps, { database, service }: BackupManifest): void {
  const [here, there] = [serverVersion(), database.version].map((version) => Math.floor(version / 10_000)) as [
    number,
    number,
  ];
  if (here < there)
    throw new BackupError(
      `${maintenance.label()} is PostgreSQL ${here}, and the archive is of PostgreSQL ${there}`,
      `restore into PostgreSQL ${there} or newer`,
    );
  const [newer] = maintenance.findNewer(database.migrations);
  if (newer)
    throw new BackupError(
      `the archive is of a newer version of the service (${service}): it has ${newer.owner} ${newer.id}`,
      `restore it with version ${service}`,
    );
}

async function readTarget(db: Pick<Db, 'query' | 'sql'>): Promise<TargetRow> {
  const { rows } = await db.query<TargetRow>(db.sql`select
      (select count(*)::int from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S') and n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
          and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')) as relations,
      (select rolsuper from pg_roles where rolname = current_user) as superuser,
      array(select rolname::text from pg_roles) as roles,
      array(select nspname::text from pg_namespace) as schemas`);
  return rows[0] as TargetRow;
}

async function openStorage(
  storage: StorageService,
  { locations }: BackupManifest,
  { overwrites, skips }: TargetOptions,
): Promise<void> {
  const names = locations.map(({ name }) => name).filter((name) => !skips.includes(name));
  const unknown = names.find((name) => !storage.locations.includes(name));
  if (unknown !== undefined)
    throw new BackupError(
      `the archive has objects of the storage location ${unknown}, which is not configured`,
      `add it to STORAGE_LOCATIONS, or leave it out by --skip ${unknown}`,
    );
  await storage.open(names);
  for (const name of overwrites ? [] : names)
    for await (const object of storage.at(name).list(''))
      throw new BackupError(
        `the storage location ${name} is not empty: it has ${object.name}`,
        'configure an empty folder or bucket, or write the objects beside those that are there by --overwrite',
      );
}
