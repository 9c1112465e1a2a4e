import { setTimeout as pause } from 'node:timers/promises';
import { Command } from 'commander';
import type { KernelCommand } from '#kernel';
import { BootFailure, boot, type Kernel } from '#kernel/boot';
import { listCorePlugins } from '../plugins/core-plugins.ts';
import { findThrowingPackage } from '../plugins/extensions/library.ts';
import { COMMAND_NOT_FOUND } from '../plugins/extensions-full/contract.ts';
import { createRepeatedLogLimiter } from './log-repeat-limit.ts';
import { assertPackagesInstalled } from './missing-packages.ts';
import { renderLogLine, writePretty } from './pretty-log.ts';
import { printConfig } from './print-config.ts';
import { readLogStyle, renderRawFailure, writeOnlyJsonLines } from './raw-output.ts';
import { renderBootFailure, renderCommandFailure } from './render-boot-failure.ts';
import { removeStaleSocket } from './stale-socket.ts';
import { warnOfAbsentSettings, warnOfMisspelledSettings } from './unknown-settings.ts';

/**
 * The command line: `bootstrap` prepares the database and ends, `start` serves, `up` is both in one process. Commands of
 * plugins stand beside them. `--safe` leaves out every third-party package.
 */
const program = new Command('tenon')
  .description('A content service for PostgreSQL')
  .showHelpAfterError()
  .option('--safe', 'loads no third-party package');

let kernel: Kernel | undefined;
let stopping: Promise<never> | undefined;
let stoppedAt = 0;

/** Undoes what was started, in any state, and ends the process. */
function end(code: number): Promise<never> {
  if (stopping === undefined) stoppedAt = performance.now();
  stopping ??= (async () => {
    await kernel?.stop();
    await Promise.race([Promise.all([flush(process.stdout), flush(process.stderr)]), pause(FLUSH_TIMEOUT)]);
    process.exit(code);
  })();
  return stopping;
}

/** Milliseconds for which a program that reads the output may take none of it. */
const FLUSH_TIMEOUT = 10_000;

/** `process.exit` drops what a slow reader of a pipe has not taken yet. */
const flush = (stream: NodeJS.WriteStream) => new Promise<void>((resolve) => stream.write('', () => resolve()));

/** Exit codes of an interrupted command by signal. A stopped service exits with 0, since it has done its work. */
const INTERRUPTED = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
let serves = false;
/** Milliseconds within which signals are one: a process manager signals the whole group, and npm passes its own signal on. */
const SAME_SIGNAL = 1000;

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (stopping && performance.now() - stoppedAt > SAME_SIGNAL) process.exit(INTERRUPTED[signal]);
    void end(serves ? 0 : INTERRUPTED[signal]);
  });
}

// An unhandled rejection belongs to one request or one timer, and must not end the others.
process.on('unhandledRejection', (error) => {
  const name = findThrowingPackage(error);
  if (kernel && name)
    kernel.log.error({ err: error, extension: name }, `${name} rejected a promise that is not awaited`);
  else if (kernel) kernel.log.error({ err: error, owner: 'kernel' }, 'unhandled rejection');
  else void fail(error);
});

// After an uncaught exception the state is unknown: end, so that the process manager starts a new process.
process.on('uncaughtException', (error) => {
  const name = findThrowingPackage(error);
  if (name && !stopping)
    console.error(
      `${name} threw outside of any call, in a timer for example. The service ends: correct or remove the package.`,
    );
  void fail(error);
});

async function fail(error: unknown): Promise<never> {
  // What fails while we are stopping fails because we are stopping.
  if (!stopping) {
    const style = kernel?.settings.value('LOG_STYLE') ?? (await readLogStyle());
    if (style === 'raw') writeError(renderRawFailure(error));
    else console.error(error instanceof BootFailure ? renderBootFailure(error) : renderCommandFailure(error));
  }
  return end(1);
}

/** Writes to standard error, also where other code's writes become lines of JSON. */
const writeError = process.stderr.write.bind(process.stderr) as (text: string) => boolean;

/** The service writes its log to standard output. That of a command of a plugin has the result of the command and nothing else. */
const isServiceCommand = ['bootstrap', 'start', 'up'].includes(
  process.argv.slice(2).find((arg) => arg !== '--safe') ?? '',
);
const isRaw = (): boolean => kernel?.settings.value('LOG_STYLE') === 'raw';
const writeLogOfCommand = (line: string): void => void process.stderr.write(isRaw() ? line : renderLogLine(line));

/** `isSafe`: without third-party packages. */
const bootService = (isSafe: boolean): Promise<Kernel> =>
  boot(listCorePlugins(), {
    prettyLog: writePretty,
    ...(isServiceCommand ? {} : { log: writeLogOfCommand }),
    logMethod: createRepeatedLogLimiter(),
    ...(isSafe ? { environment: { ...process.env, SAFE_MODE: 'true' } } : {}),
  });

async function serve(running: Kernel): Promise<void> {
  serves = true;
  await running.migrate();
  await running.start();
  await removeStaleSocket(running.settings.value('UNIX_SOCKET_PATH'));
  const { address } = await running.listen();
  const text = `Tenon listens on ${address}`;
  // Programs that read the style `raw` parse each line as JSON.
  if (isRaw()) running.log.info({ owner: 'kernel', address }, text);
  else console.log(text);
}

program
  .command('bootstrap')
  .description('prepares the database and ends; safe to repeat')
  .action(async () => {
    await kernel?.migrate();
    await end(0);
  });

for (const [name, about] of [
  ['start', 'serves until it receives SIGTERM or SIGINT'],
  ['up', 'prepares the database, then serves'],
] as const) {
  program
    .command(name)
    .description(about)
    .option('--safe', 'loads no third-party package')
    .action(async () => serve(kernel as Kernel));
}

program
  .command('config:print')
  .description('prints the settings, secrets masked: config:print [--redacted | --with-secrets] [--json]')
  .argument('[args...]')
  .allowUnknownOption()
  .action(async (args: readonly string[]) => end(printConfig((kernel as Kernel).settings, args)));

/** The arguments, with `users create` as another way to write `users:create`. */
function withCommandName(args: readonly string[], names: ReadonlySet<string>): readonly string[] {
  const [first = '', second = '', ...rest] = args;
  const joined = `${first}:${second}`;
  return !names.has(first) && names.has(joined) ? [joined, ...rest] : args;
}

/** Migrates and starts the service, with third-party packages, and answers the commands that they added. */
async function startWithPackages(): ReturnType<Parameters<KernelCommand['run']>[1]> {
  const running = kernel as Kernel;
  const core = new Set(running.commands().keys());
  await running.migrate();
  await running.start();
  return new Map([...running.commands()].filter(([name]) => !core.has(name)));
}

/** Ends the process with a command of a package, unless none has it. Packages are loaded only for a command that is none of ours. */
async function runPackageCommand(args: readonly string[], { commands }: Kernel): Promise<void> {
  const [name = ''] = args;
  const isOurs = program.commands.some((one) => one.name() === name) || commands().has(name) || name === 'help';
  if (name === '' || name.startsWith('-') || isOurs) return;
  const code = await commands().get('extensions:run')?.run(args, startWithPackages);
  if (code !== undefined && code !== COMMAND_NOT_FOUND) await end(code);
}

try {
  kernel = await bootService(process.argv.includes('--safe'));
  if (isServiceCommand && isRaw()) writeOnlyJsonLines(kernel.log);
  // A command that starts the service works on its data: a package has no part in that, and loading one may record consent.
  const args = withCommandName(process.argv.slice(2), new Set([...kernel.commands().keys(), 'config:print']));
  if (kernel.commands().get(args[0] ?? '')?.needs === 'start') {
    await kernel.stop();
    kernel = await bootService(true);
  }
  assertPackagesInstalled(kernel.plugins);
  warnOfMisspelledSettings(kernel);
  warnOfAbsentSettings(kernel);
  await runPackageCommand(args, kernel);
  for (const { name, about, needs, check, run } of kernel.commands().values()) {
    program
      .command(name)
      .description(about)
      .argument('[args...]')
      .allowUnknownOption()
      .action(async (own: readonly string[]) => {
        const refusal = check?.(own);
        if (refusal !== undefined) await end(refusal);
        if (needs !== undefined) await kernel?.migrate();
        if (needs === 'start') await kernel?.start();
        await end((await run(own, startWithPackages)) ?? 0);
      });
  }
  await program.parseAsync(args, { from: 'user' });
} catch (error) {
  await fail(error);
}
