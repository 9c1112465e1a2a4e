import type { KernelCommand, Log } from '#kernel';
import type { ExtensionStatusControl } from '../../extensions/contract.ts';
import { COMMAND_NOT_FOUND } from '../contract.ts';
import { COMMAND_INIT_EVENTS, hasInitHandlers, runInitHandlers } from '../init-events.ts';
import { type CommandProgram, createCommandProgram } from './command-program.ts';

interface Deps {
  readonly log: Log;
  readonly extensions: Pick<ExtensionStatusControl, 'hasFullAuthorityPackages'>;
}

/** Commands that packages with full authority add to the command line. */
export interface PackageCommands {
  /** Since `command` runs: this process does not serve. */
  isCommandProcess(): boolean;
  /** Emits `cli.before` and `cli.after`. Without a listener, in a process that serves, nothing is loaded for it. */
  emitEvents(): Promise<void>;
  /** `extensions:run <command> […]`; without a command it lists those that there are. */
  readonly command: KernelCommand;
}

export function createPackageCommands({ log, extensions }: Deps): PackageCommands {
  const loaded = Promise.withResolvers<CommandProgram>();
  let isCommandProcess = false;

  const command: KernelCommand = {
    name: 'extensions:run',
    about: '[command] […]: runs a command of a package with full authority; without one it lists them',
    async run(args, start) {
      // The database is not touched for a misspelled command where no package could have it.
      if (!(await extensions.hasFullAuthorityPackages())) {
        process.stderr.write('No package with full authority is installed, or SAFE_MODE (--safe) leaves them out.\n');
        return COMMAND_NOT_FOUND;
      }
      isCommandProcess = true;
      const added = await start();
      return (await loaded.promise).run(args, added, start);
    },
  };

  return {
    isCommandProcess: () => isCommandProcess,
    async emitEvents() {
      if (!isCommandProcess && !hasInitHandlers({ log }, COMMAND_INIT_EVENTS)) return;
      const program = await createCommandProgram();
      await runInitHandlers({ log }, COMMAND_INIT_EVENTS, { program: program.program });
      loaded.resolve(program);
    },
    command,
  };
}
