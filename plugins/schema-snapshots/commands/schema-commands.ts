import { Failure, Failures, type KernelCommand } from '#kernel';
import { renderFailure } from '../plan/build-plan.ts';
import { runApply } from './apply-command.ts';
import { type OptionName, type ParsedArguments, parseArguments, UsageError } from './command-arguments.ts';
import { EXIT, type SchemaCommandDeps } from './command-deps.ts';
import { CommandError } from './document-files.ts';
import { runPlan } from './plan-command.ts';
import { runSnapshot } from './snapshot-command.ts';

interface SchemaCommand {
  readonly name: string;
  readonly about: string;
  readonly usage: string;
  readonly options: readonly OptionName[];
  readonly needsFile: boolean;
  run(deps: SchemaCommandDeps, args: ParsedArguments): Promise<number>;
}

const COMMANDS: readonly SchemaCommand[] = [
  {
    name: 'schema:snapshot',
    about: 'prints a snapshot of the schema, or writes it to a file',
    usage: '[file] [--with roles,permissions,flows,dashboards,settings] [--format yaml|json] [--yes]',
    options: ['with', 'format', 'yes'],
    needsFile: false,
    run: runSnapshot,
  },
  {
    name: 'schema:plan',
    about:
      'shows what turns the schema into that of a snapshot; ends with 3 where there are changes, 4 where they would be refused',
    usage: '<file> [--rename a.b=a.c] [--merge] [--allow-drop a.b,c] [--save plan.json] [--json] [--force]',
    options: ['rename', 'merge', 'allow-drop', 'save', 'json', 'force'],
    needsFile: true,
    run: runPlan,
  },
  {
    name: 'schema:apply',
    about: 'turns the schema into that of a snapshot, or applies a saved plan, in one transaction',
    usage: '<file> [--rename a.b=a.c] [--merge] [--allow-drop a.b,c] [--yes] [--dry-run] [--force]',
    options: ['rename', 'merge', 'allow-drop', 'yes', 'dry-run', 'force'],
    needsFile: true,
    run: runApply,
  },
];

const printError = (line: string): void => void process.stderr.write(`${line}\n`);

/** The commands `schema snapshot`, `schema plan` and `schema apply`. */
export const createSchemaCommands = (deps: SchemaCommandDeps): readonly KernelCommand[] =>
  COMMANDS.map((command) => ({
    name: command.name,
    about: `${command.about}: ${command.name} ${command.usage}`,
    needs: 'start',
    check(args) {
      try {
        parseArguments(args, command);
        return undefined;
      } catch (error) {
        return explain(command, error);
      }
    },
    async run(args) {
      try {
        return await command.run(deps, parseArguments(args, command));
      } catch (error) {
        return explain(command, error);
      }
    },
  }));

/** Prints why the command ends, and answers its exit code. @throws errors that are none of a command */
function explain({ name, usage }: SchemaCommand, error: unknown): number {
  if (error instanceof UsageError) {
    printError(error.message);
    printError(`Usage: ${name} ${usage}`);
    return EXIT.usage;
  }
  if (error instanceof Failure || error instanceof Failures) printError(renderFailure(error));
  else if (error instanceof CommandError) printError(error.message);
  else throw error;
  return EXIT.failed;
}
