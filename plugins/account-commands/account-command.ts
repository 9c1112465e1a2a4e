import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { type Caller, Failure, Failures, type KernelCommand } from '#kernel';
import type { SessionDirectory } from '../auth/contract.ts';
import type { ItemsEngine } from '../items/contract.ts';

/** Values of the options of a command line, by name. */
export type OptionValues = Readonly<Record<string, string | boolean | undefined>>;

export interface AccountCommandDeps {
  readonly items: Pick<ItemsEngine, 'createOne' | 'updateOne' | 'rows' | 'export'>;
  readonly sessions: Pick<SessionDirectory, 'end' | 'endOthers'>;
  /** The caller that commands act as: an admin of the machine has no user. */
  readonly system: () => Caller;
}

export interface AccountCommand {
  readonly name: string;
  readonly about: string;
  /** The arguments, as the usage shows them. */
  readonly usage: string;
  readonly options: ParseArgsOptionsConfig;
  /** Names of the options that have to be there. */
  readonly required?: readonly string[];
  /** Two options that exclude each other. */
  readonly exclusive?: readonly [string, string];
  /** Does the work and prints its result. @throws UsageError, CommandError, Failure */
  run(values: OptionValues): Promise<void>;
}

/** Arguments that make no sense: the command ends with 2, and prints its usage. */
export class UsageError extends Error {}

/** What cannot be done as things are: the command ends with 1. */
export class CommandError extends Error {}

/** The command line of an account command. Results are printed on standard output, everything else on standard error. */
export function createAccountCommand(command: AccountCommand): KernelCommand {
  const { name, about, usage, run } = command;
  /** Prints why the command ends, and answers its exit code. */
  const explain = (error: unknown): number => {
    const isUsage = error instanceof UsageError;
    for (const line of messagesOf(error)) printError(line);
    if (isUsage) printError(`Usage: ${name} ${usage}`);
    return isUsage ? 2 : 1;
  };
  return {
    name,
    about: `${about}: ${name} ${usage}`,
    needs: 'start',
    check(args) {
      try {
        parseOptions(args, command);
        return undefined;
      } catch (error) {
        return explain(error);
      }
    },
    async run(args) {
      try {
        await run(parseOptions(args, command));
        return 0;
      } catch (error) {
        return explain(error);
      }
    },
  };
}

/** @throws UsageError */
function parseOptions(
  args: readonly string[],
  { options, required = [], exclusive }: Pick<AccountCommand, 'options' | 'required' | 'exclusive'>,
): OptionValues {
  let values: OptionValues;
  try {
    values = parseArgs({ args: [...args], options, strict: true }).values as OptionValues;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  for (const name of required) requireOption(values, name);
  if (exclusive?.every((name) => values[name]))
    throw new UsageError(`${exclusive.map((name) => `--${name}`).join(' and ')} exclude each other.`);
  return values;
}

/** The lines for an error that an admin can act on. @throws any other error, which the command line prints with its stack */
function messagesOf(error: unknown): readonly string[] {
  if (error instanceof Failures) return error.failures.map(renderFailure);
  if (error instanceof Failure) return [renderFailure(error)];
  if (error instanceof UsageError || error instanceof CommandError) return [error.message];
  throw error;
}

const renderFailure = ({ code, message }: Failure): string => `${code}: ${message}`;

const printError = (line: string): void => void process.stderr.write(`${line}\n`);

/** The text of an option that has to be there. @throws UsageError */
export function requireOption(values: OptionValues, name: string): string {
  const value = values[name];
  if (typeof value !== 'string' || value === '') throw new UsageError(`--${name} is missing.`);
  return value;
}

/** Prints the result: as JSON with `--json`, else as one line. */
export function printResult(values: OptionValues, result: Readonly<Record<string, unknown>>, line: string): void {
  process.stdout.write(`${values.json ? JSON.stringify(result) : line}\n`);
}
