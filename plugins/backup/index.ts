import { type ContributionTo, commands, definePlugin } from '#kernel';
import { lock, presence } from '../cluster/contract.ts';
import { dedicatedConnections, maintenance } from '../database/contract.ts';
import type { doctorChecks } from '../doctor/contract.ts';
import { storage } from '../storage/contract.ts';
import { createBackupCommand } from './backup-command.ts';
import { createInterruptibleCommands } from './command.ts';
import { backupObjects } from './contract.ts';
import type { BackupDeps } from './deps.ts';
import { createBackupDoctorCheck } from './doctor-check.ts';
import manifest from './package.json' with { type: 'json' };
import { createRestoreCommand } from './restore-command.ts';

interface Config {
  readonly POSTGRES_PROGRAMS_PATH?: string;
}

const USED = { connections: dedicatedConnections, 'database-maintenance': maintenance, lock, presence, storage };

export default definePlugin<Config>({
  manifest,
  register(host) {
    const { 'database-maintenance': opened, ...used } = host.use(USED);
    const { config, db } = host;
    host.define(backupObjects);
    const deps: BackupDeps = {
      ...used,
      db,
      maintenance: opened,
      objects: () => host.read(backupObjects),
      schemas: db.schemas,
      serverVersion: () => db.serverVersion,
      programsPath: config.POSTGRES_PROGRAMS_PATH || undefined,
    };
    host.contribute<ContributionTo<typeof doctorChecks>>('doctor.checks', createBackupDoctorCheck(deps));
    const interruptible = createInterruptibleCommands();
    host.contribute(commands, interruptible.create(createBackupCommand(deps)));
    host.contribute(commands, interruptible.create(createRestoreCommand(deps)));
    host.onStop(interruptible.stop);
  },
});
