import type { InterProcessLock, ProcessPresence } from '../cluster/contract.ts';
import type { DatabaseMaintenance, Db, DedicatedConnections } from '../database/contract.ts';
import type { StorageService } from '../storage/contract.ts';
import type { BackedUpObjects } from './contract.ts';

/** What backups and restores need. */
export interface BackupDeps {
  readonly db: Pick<Db, 'query' | 'sql'>;
  readonly connections: DedicatedConnections;
  readonly lock: Pick<InterProcessLock, 'run' | 'isHeld'>;
  readonly maintenance: DatabaseMaintenance;
  readonly presence: Pick<ProcessPresence, 'findOthers'>;
  readonly storage: StorageService;
  /** Objects that belong to no file. */
  readonly objects: () => readonly BackedUpObjects[];
  /** DB_SCHEMAS. */
  readonly schemas: readonly string[];
  /** `server_version_num`; known once the database is open. */
  readonly serverVersion: () => number;
  /** POSTGRES_PROGRAMS_PATH. */
  readonly programsPath: string | undefined;
}
