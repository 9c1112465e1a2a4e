import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Delimiters } from './contract.ts';
import { PROCESS } from './limits.ts';

/** What the process is asked. `data` is JSON text. */
export interface Job {
  readonly template: string;
  readonly data: string;
  readonly delimiters: Delimiters;
}

export type Answer = { readonly text: string } | { readonly reason: string };

/** A process that renders one template at a time. */
export interface Renderer {
  /** Answers a reason also where the process did not survive the template. Rejects where it did not come up. */
  render(job: Job): Promise<Answer>;
  /** False once it is gone or about to be. */
  isAlive(): boolean;
  end(): void;
}

const TOO_LONG: Answer = { reason: 'it takes too long' };
const TOO_MUCH: Answer = { reason: 'it needs too much memory' };

/** It may read its own program and the engine, and do nothing else to the machine. */
function startProcess(): ChildProcess {
  const engine = new URL('../', import.meta.resolve('liquidjs'));
  const flags = ['--permission', ...[new URL('./', import.meta.url), engine].map(readable)];
  return fork(fileURLToPath(new URL('./child.ts', import.meta.url)), [], {
    env: {},
    execArgv: [...flags, `--max-old-space-size=${PROCESS.heap}`, '--disallow-code-generation-from-strings'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // Texts are read as JSON: nothing that comes back can be more than a value.
    serialization: 'json',
  });
}

const readable = (folder: URL): string => `--allow-fs-read=${fileURLToPath(folder)}`;

export function startRenderer(): Renderer {
  const child = startProcess();
  let alive = true;
  const gone = once(child, 'exit').catch(() => {});
  // Also where it cannot be started, or killed: what waits for it is told by `gone` or by its deadline.
  child.on('error', () => {});
  void gone.then(() => (alive = false));
  const end = () => {
    alive = false;
    child.kill('SIGKILL');
  };
  const ready = within(PROCESS.start, messageOf(child, gone)).then((message) => {
    if (message !== 'ready') end();
    return message === 'ready';
  });

  /** A process without work does not keep the service running. */
  function hold(isBusy: boolean): void {
    for (const handle of [child, child.channel]) {
      if (isBusy) handle?.ref();
      else handle?.unref();
    }
  }

  return {
    isAlive: () => alive,
    end,
    async render(job) {
      hold(true);
      if (!(await ready)) throw new Error('the process that renders templates did not start');
      const answer = messageOf(child, gone);
      child.send(job, () => {});
      const message = await within(PROCESS.deadline, answer);
      hold(false);
      if (isAnswer(message)) return message;
      end();
      return message === LATE ? TOO_LONG : TOO_MUCH;
    },
  };
}

const LATE = Symbol('late');

/** The next message; undefined where the process goes instead. */
const messageOf = (child: ChildProcess, gone: Promise<unknown>): Promise<unknown> => {
  const stop = new AbortController();
  const message = once(child, 'message', { signal: stop.signal }).then(
    ([value]) => value as unknown,
    () => undefined,
  );
  return Promise.race([message, gone.then(() => undefined)]).finally(() => stop.abort());
};

async function within<T>(milliseconds: number, work: Promise<T>): Promise<T | typeof LATE> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const isAnswer = (message: unknown): message is Answer =>
  typeof message === 'object' &&
  message !== null &&
  (('text' in message && typeof message.text === 'string') ||
    ('reason' in message && typeof message.reason === 'string'));
