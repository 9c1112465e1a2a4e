import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { Failure, type KernelCommand } from '#kernel';
import { BackupError, UsageError } from './failures.ts';

/** Values of options by name, and the file. */
export interface CommandArguments {
  readonly file: string;
  readonly flags: ReadonlySet<string>;
  /** Locations of `--skip`. */
  readonly skips: readonly string[];
}

interface FileCommand {
  readonly name: string;
  readonly about: string;
  readonly usage: string;
  readonly flags: readonly string[];
  /** What a failure means, before its reason. */
  readonly ofFailure: string;
  /** Answers the exit code. */
  run(args: CommandArguments, signal: AbortSignal): Promise<number>;
}

/** `partial`: the archive is complete, but storage had not all objects. */
export const EXIT = { done: 0, failed: 1, usage: 2, partial: 3 } as const;

export const printError = (line: string): void => void process.stderr.write(`${line}\n`);

/** Commands that one stop interrupts: it waits until what is half done is removed. */
export interface InterruptibleCommands {
  create(command: FileCommand): KernelCommand;
  stop(): Promise<void>;
}

export function createInterruptibleCommands(): InterruptibleCommands {
  const stopping = new AbortController();
  const running = new Set<Promise<number>>();
  return {
    create: (command) => ({
      name: command.name,
      about: `${command.about}: ${command.name} ${command.usage}`,
      async run(args) {
        const run = runCommand(command, args, stopping.signal).finally(() => running.delete(run));
        running.add(run);
        return run;
      },
    }),
    async stop() {
      stopping.abort(
        new BackupError('the command was interrupted', 'repeat it; a restore that has written files, with --overwrite'),
      );
      await Promise.allSettled(running);
    },
  };
}

async function runCommand(command: FileCommand, args: readonly string[], signal: AbortSignal): Promise<number> {
  try {
    return await command.run(parseArguments(args, command.flags), signal);
  } catch (error) {
    const failure = signal.aborted ? signal.reason : error;
    if (failure instanceof UsageError) {
      printError(failure.message);
      printError(`Usage: ${command.name} ${command.usage}`);
      return EXIT.usage;
    }
    const { remedy } = failure as { remedy?: unknown };
    if (typeof remedy !== 'string' && !(failure instanceof Failure)) throw failure;
    printError(`${command.ofFailure}: ${(failure as Error).message}.`);
    if (typeof remedy === 'string') printError(`What to do: ${remedy}.`);
    return EXIT.failed;
  }
}

/** @throws UsageError */
function parseArguments(args: readonly string[], flags: readonly string[]): CommandArguments {
  const options: ParseArgsOptionsConfig = {
    skip: { type: 'string', multiple: true },
    ...Object.fromEntries(flags.map((name) => [name, { type: 'boolean' as const }])),
  };
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args: [...args], options, strict: true, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const [file, ...rest] = parsed.positionals;
  if (file === undefined || rest.length > 0) throw new UsageError('One file is needed.');
  const values = parsed.values as Readonly<Record<string, unknown>>;
  return {
    file,
    flags: new Set(flags.filter((name) => values[name] === true)),
    skips: ((values.skip ?? []) as readonly string[]).flatMap((text) => text.split(',')).filter(Boolean),
  };
}
