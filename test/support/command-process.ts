import { Readable } from 'node:stream';
import { registerServiceImportResolver } from '../../scripts/resolve-sources.ts';
import { type CommandRequest, END_OF_OUTPUT } from './command-messages.ts';

/** Thrown in place of ending the process. */
class CommandExit extends Error {}

const EVENTS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'unhandledRejection', 'uncaughtException'] as const;

/**
 * The program of `runCommand`: runs the command line for one command after the other. The modules of the service are loaded once; the
 * command line itself is evaluated anew for each command, since it holds the state of one.
 */
async function runCommandLine({ args, env, input }: CommandRequest, count: number): Promise<number> {
  for (const name of Object.keys(process.env)) delete process.env[name];
  for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value;
  process.argv.splice(2, process.argv.length, ...args);
  process.exitCode = undefined;
  Object.defineProperty(process, 'stdin', {
    value: Readable.from(input === '' ? [] : [Buffer.from(input)]),
    configurable: true,
  });
  let code: number | undefined;
  const { exit } = process;
  const writes = [process.stdout, process.stderr].map((stream) => [stream, stream.write] as const);
  process.exit = ((value?: number) => {
    code ??= value ?? Number(process.exitCode ?? 0);
    // A process that has ended writes nothing.
    for (const [stream] of writes) stream.write = (() => true) as typeof stream.write;
    throw new CommandExit();
  }) as typeof process.exit;
  try {
    await import(`../../scripts/command-line.ts?command=${count}`);
  } catch (error) {
    if (!(error instanceof CommandExit)) throw error;
  } finally {
    process.exit = exit;
    for (const [stream, write] of writes) stream.write = write;
    for (const event of EVENTS) process.removeAllListeners(event);
  }
  return code ?? 0;
}

registerServiceImportResolver();
let count = 0;
process.on('disconnect', () => process.exit());
process.on('message', async (request: CommandRequest) => {
  const code = await runCommandLine(request, ++count);
  for (const stream of [process.stdout, process.stderr]) stream.write(END_OF_OUTPUT);
  process.send?.(code);
});
