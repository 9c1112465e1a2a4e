import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type CommandRequest, END_OF_OUTPUT } from './command-messages.ts';
import { HEAP_FLAGS, RECORDING } from './service.ts';

export interface CommandResult {
  readonly code: number;
  /** What it has written to standard output and standard error. */
  readonly output: string;
  readonly standardOutput: string;
}

/** The kept process, and what rejects when it ends. */
let kept: { readonly child: ChildProcess; readonly ended: Promise<never> } | undefined;
let running: Promise<unknown> = Promise.resolve();

/**
 * Runs a command of the service in a process that is kept for further commands of this test process: loading the service takes most of
 * the time of a command. `env` is its whole environment, except PATH and HOME; `input` is its standard input. For commands that get signals:
 * `runCli`.
 */
export function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input = '',
): Promise<CommandResult> {
  const { PATH, HOME } = process.env;
  const result = running.then(() => send({ args, env: { PATH, HOME, ...RECORDING.env, ...env }, input }));
  running = result.catch(() => {});
  return result;
}

async function send(request: CommandRequest): Promise<CommandResult> {
  kept ??= start();
  const { child, ended } = kept;
  const outputs = new CollectedOutputs(child);
  const answer = once(child, 'message').then(([code]) => code as number);
  child.send(request);
  try {
    const [code] = await Promise.race([Promise.all([answer, outputs.complete]), ended]);
    return { code, output: outputs.all.replaceAll(END_OF_OUTPUT, ''), standardOutput: outputs.standard };
  } catch (error) {
    throw new Error(outputs.all, { cause: error });
  } finally {
    outputs.stop();
  }
}

function start(): NonNullable<typeof kept> {
  const program = fileURLToPath(new URL('command-process.ts', import.meta.url));
  const started = spawn(process.execPath, [...HEAP_FLAGS, ...RECORDING.args, program], {
    cwd: fileURLToPath(new URL('../../', import.meta.url)),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  for (const stream of [started.stdout, started.stderr]) stream?.setEncoding('utf8');
  // It ends with this process, and does not keep it.
  started.unref();
  started.channel?.unref();
  for (const stream of [started.stdout, started.stderr]) (stream as unknown as { unref(): void } | null)?.unref();
  const ended = once(started, 'exit').then(([code]) => {
    kept = undefined;
    throw new Error(`the process of commands ended with ${code}`);
  });
  ended.catch(() => {});
  return { child: started, ended };
}

class CollectedOutputs {
  /** Both outputs, as they came. */
  all = '';
  readonly complete: Promise<unknown>;
  readonly stop: () => void;
  readonly #texts: string[] = [];

  constructor({ stdout, stderr }: ChildProcess) {
    const stops: (() => void)[] = [];
    this.complete = Promise.all(
      [stdout, stderr].map(
        (stream, at) =>
          new Promise<void>((resolve) => {
            this.#texts[at] = '';
            const take = (part: string) => {
              this.all += part;
              this.#texts[at] += part;
              if (this.#texts[at]?.endsWith(END_OF_OUTPUT)) resolve();
            };
            stream?.on('data', take);
            stops.push(() => stream?.off('data', take));
          }),
      ),
    );
    this.stop = () => {
      for (const one of stops) one();
    };
  }

  get standard(): string {
    return (this.#texts[0] ?? '').slice(0, -END_OF_OUTPUT.length);
  }
}
