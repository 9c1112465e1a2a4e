import type { DoctorCheck } from '../doctor/contract.ts';
import type { BackupDeps } from './deps.ts';
import { BackupError } from './failures.ts';
import { findPostgresPrograms } from './postgres/find-programs.ts';

/** Whether the client programs that backups need are there. */
export const createBackupDoctorCheck = ({ maintenance, serverVersion, programsPath }: BackupDeps): DoctorCheck => ({
  name: 'backup',
  async run() {
    // The check of the database tells that there is none, or why it is not reached.
    const hasDatabase = await maintenance.hasDatabase().catch(() => false);
    const isOpen =
      hasDatabase &&
      (await maintenance
        .open()
        .then(() => true)
        .catch(() => false));
    if (!isOpen) return [];
    try {
      const major = Math.floor(serverVersion() / 10_000);
      const { dump, version } = await findPostgresPrograms(programsPath, { major, what: 'the database' });
      return [{ status: 'ok', text: `${dump} (${version}) can save the database` }];
    } catch (error) {
      if (!(error instanceof BackupError)) throw error;
      return [{ status: 'warn', text: `no backup can be taken: ${error.message}`, remedy: error.remedy }];
    }
  },
});
