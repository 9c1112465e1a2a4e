import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PROCESS } from './limits.ts';
import type { Job } from './messages.ts';

/** How a job ended: what the process said last, or how it did not come to say anything. */
export type Outcome = { readonly said: Readonly<Record<string, unknown>> } | 'timeout' | 'broken';

/** A process that does one job at a time. */
export interface Worker {
  /** Never rejects. `note` hears what the process tells before it is done. `missed`: it was gone before it had the job. */
  run(
    job: Job,
    milliseconds: number,
    note: (message: Readonly<Record<string, unknown>>) => void,
  ): Promise<Outcome | 'missed'>;
  /** False once it is gone or about to be, or has worked long enough. */
  isFit(): boolean;
  /** Kills it; resolves when it is gone. */
  end(): Promise<void>;
  /** Resolves when it is gone, whoever ended it. */
  readonly gone: Promise<void>;
}

const SHELL = '/bin/sh';

/**
 * Through a shell, which bounds what the process may take before it is replaced by it: memory, processor time, and which
 * of all processes the system ends first when it runs out of memory. All others go first where processors are scarce: as a
 * session of its own among other sessions, or as a process, whichever the system goes by. A bound it does not know is left out.
 */
const BOUNDED = [
  `ulimit -c 0; ulimit -d ${PROCESS.data * 1024}; ulimit -t ${PROCESS.processor}`,
  'echo 700 > /proc/self/oom_score_adj',
  `echo ${PROCESS.niceness} > /proc/self/autogroup`,
  `command -v nice > /dev/null && exec nice -n ${PROCESS.niceness} "$0" "$@"`,
  'exec "$0" "$@"',
].join('\n');

/** Nothing of the service's environment, and nothing decoded on disk: `/tmp` is not ours to fill. */
const ENVIRONMENT = { TZ: 'UTC', MALLOC_ARENA_MAX: '2', VIPS_DISC_THRESHOLD: '64g' };

/**
 * The permission flags keep the JavaScript in it from writing files and starting processes; addons are let in for the
 * decoders, which they do not bind.
 */
const FLAGS = [
  '--permission',
  '--allow-addons',
  '--allow-fs-read=*',
  `--max-old-space-size=${PROCESS.heap}`,
  '--disallow-code-generation-from-strings',
];

function startProcess(threads: number): ChildProcess {
  const isBounded = existsSync(SHELL);
  return fork(fileURLToPath(new URL('./child/entry.ts', import.meta.url)), [String(threads)], {
    ...(isBounded ? { execPath: SHELL } : {}),
    execArgv: isBounded ? ['-c', BOUNDED, process.execPath, ...FLAGS] : FLAGS,
    env: ENVIRONMENT,
    cwd: fileURLToPath(new URL('./', import.meta.url)),
    // Its own session: a signal of the terminal is meant for the service alone, which lets its jobs end.
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // Texts are read as JSON: nothing that comes back can be more than a value.
    serialization: 'json',
  });
}

export function startWorker(threads: number): Worker {
  const child = startProcess(threads);
  let fit = true;
  let isGone = false;
  let listen: (message: unknown) => void = () => {};
  // One at a time, and not by a promise: it would keep all who have ever waited, with their requests, while the process lives.
  let giveUp = () => {};

  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    // It could not be started; after an exit there may be others, which say nothing new.
    child.on('error', () => child.pid === undefined && resolve());
  }).then(() => {
    isGone = true;
    fit = false;
    giveUp();
  });
  child.on('message', (message) => listen(message));

  /** A process without work does not keep the service running. */
  function hold(isBusy: boolean): void {
    for (const handle of [child, child.channel]) {
      if (isBusy) handle?.ref();
      else handle?.unref();
    }
  }

  /** Waits for what `listen` is told, but not for longer, and not for a process that is gone. */
  function within<T>(
    milliseconds: number,
    hear: (message: unknown) => T | undefined,
  ): Promise<T | 'timeout' | 'broken'> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve('timeout'), milliseconds);
      const settle = (value: T | 'broken') => {
        clearTimeout(timer);
        listen = () => {};
        giveUp = () => {};
        resolve(value);
      };
      listen = (message) => {
        const heard = hear(message);
        if (heard !== undefined) settle(heard);
      };
      giveUp = () => settle('broken');
      if (isGone) giveUp();
    });
  }

  const ready = within(PROCESS.start, (message) => (message === 'ready' ? message : undefined));

  async function end(): Promise<void> {
    fit = false;
    // Whoever waits for this waits while the process is not gone, though nothing else may keep the service running.
    hold(true);
    child.kill('SIGKILL');
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, PROCESS.grave);
    });
    await Promise.race([gone, late]);
    clearTimeout(timer);
    hold(false);
  }

  return {
    gone,
    isFit: () => fit,
    end,
    async run(job, milliseconds, note) {
      hold(true);
      let outcome: Outcome = 'broken';
      let isBegun = false;
      if ((await ready) === 'ready') {
        const answer = within(milliseconds, (message) => {
          isBegun ||= message === 'begun';
          const said = membersOf(message);
          if (said && ('done' in said || 'failed' in said)) return { said };
          if (said) note(said);
          return undefined;
        });
        if (fit) child.send(job, () => {});
        outcome = await answer;
      }
      if (typeof outcome === 'string') await end();
      else if (Number(outcome.said.spent) > PROCESS.worn) fit = false;
      hold(false);
      return outcome === 'broken' && !isBegun ? 'missed' : outcome;
    },
  };
}

const membersOf = (message: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof message === 'object' && message !== null ? (message as Record<string, unknown>) : undefined;
