import type { Command } from 'commander';
import type { KernelCommand } from '#kernel';
import { COMMAND_NOT_FOUND } from '../contract.ts';

type AddedCommands = Parameters<KernelCommand['run']>[1] extends () => Promise<infer Added> ? Added : never;

/** The member `program` of `cli.before` and `cli.after`, to which packages add their commands, and how one of them runs. */
export interface CommandProgram {
  readonly program: Command;
  /** Runs a command of this program, or of a third-party plugin. Resolves to its exit code, 127 where there is none of this name. */
  run(args: readonly string[], added: AddedCommands, start: () => Promise<AddedCommands>): Promise<number>;
}

/** It is a program of its own, so that no package takes the place of a core command. */
export async function createCommandProgram(): Promise<CommandProgram> {
  const { Command, CommanderError } = await import('commander');
  const program = new Command('tenon').description('Commands of packages with full authority').exitOverride();
  const listNames = () => program.commands.flatMap((one) => [one.name(), ...one.aliases()]);

  async function runOfProgram(args: readonly string[]): Promise<number> {
    try {
      await program.parseAsync(args, { from: 'user' });
    } catch (error) {
      // It has written what is wrong, or the help.
      if (error instanceof CommanderError) return error.exitCode;
      throw error;
    }
    return Number(process.exitCode ?? 0);
  }

  return {
    program,
    async run(args, added, start) {
      const known = new Set([...added.keys(), ...listNames()]);
      const [name, ...rest] = joinName(args, known);
      if (name === undefined) {
        process.stdout.write(`${program.helpInformation()}${renderAdded(added)}`);
        return 0;
      }
      const own = added.get(name);
      if (own) return (await own.run(rest, start)) ?? 0;
      if (known.has(name)) return runOfProgram([name, ...rest]);
      const names =
        known.size === 0 ? 'No package has a command.' : `Those of packages: ${[...known].sort().join(', ')}.`;
      process.stderr.write(`No package has the command "${name}". ${names}\n`);
      return COMMAND_NOT_FOUND;
    },
  };
}

/** `acme sync` is another way to write `acme:sync`. */
function joinName(args: readonly string[], known: ReadonlySet<string>): readonly string[] {
  const [first = '', second = '', ...rest] = args;
  const joined = `${first}:${second}`;
  return !known.has(first) && known.has(joined) ? [joined, ...rest] : args;
}

const renderAdded = (added: AddedCommands): string =>
  added.size === 0
    ? ''
    : `\nCommands of third-party plugins:\n${[...added.values()].map(({ name, about }) => `  ${name}  ${about}\n`).join('')}`;
