import type { WorkerJobOptions, WorkerPoolOptions } from './contract.ts';
import { forkWorkerProcess } from './start-process.ts';
import { WorkerMessageReceiver } from './worker-message-receiver.ts';

/** Milliseconds that `end` waits for a killed process to be gone. */
const KILL_TIMEOUT = 3000;

/** How a job ended in one process. `missed`: the process was gone before it had the job, or did not come up. */
export type WorkerProcessOutcome = { readonly reply: unknown } | 'timeout' | 'crashed' | 'missed';

/** A child process that does one job at a time. */
export interface WorkerProcess {
  /** Runs one job. Never rejects. */
  run(job: object, options: Pick<WorkerJobOptions, 'timeout' | 'onNote'>): Promise<WorkerProcessOutcome>;
  /** False once the process has ended, is about to end, or has used `replaceAfter` seconds. */
  isUsable(): boolean;
  /** Kills the process; resolves when it is gone. */
  end(): Promise<void>;
  /** Resolves when the process is gone, for whatever reason. */
  readonly gone: Promise<void>;
}

/**
 * Starts a worker process.
 * @throws what `forkWorkerProcess` throws.
 */
export function startWorker(options: WorkerPoolOptions): WorkerProcess {
  const child = forkWorkerProcess(options);
  const messages = new WorkerMessageReceiver(child);
  const { gone } = messages;
  let usable = true;
  const isUsable = () => usable && !messages.isGone;

  /** A process without work does not keep the service running. */
  function setKeepAlive(isBusy: boolean): void {
    for (const handle of [child, child.channel]) {
      if (isBusy) handle?.ref();
      else handle?.unref();
    }
  }

  const ready = messages.waitFor(options.startTimeout, (message) => (message === 'ready' ? message : undefined));

  async function end(): Promise<void> {
    usable = false;
    // Keeps the service running until the killed process is gone.
    setKeepAlive(true);
    child.kill('SIGKILL');
    let timer: NodeJS.Timeout | undefined;
    const expired = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, KILL_TIMEOUT);
    });
    await Promise.race([gone, expired]);
    clearTimeout(timer);
    setKeepAlive(false);
  }

  return {
    gone,
    isUsable,
    end,
    async run(job, { timeout, onNote }) {
      setKeepAlive(true);
      let outcome: { readonly reply: unknown; readonly spent?: unknown } | 'timeout' | 'crashed' = 'crashed';
      let isBegun = false;
      if ((await ready) === 'ready') {
        const reply = messages.waitFor(timeout, (message) => {
          isBegun ||= message === 'begun';
          if (typeof message !== 'object' || message === null) return undefined;
          if ('reply' in message) return message;
          if ('note' in message) onNote?.(message.note);
          return undefined;
        });
        if (isUsable()) child.send(job, () => {});
        outcome = await reply;
      }
      if (typeof outcome === 'string') await end();
      else if (Number(outcome.spent) > (options.replaceAfter ?? Number.POSITIVE_INFINITY)) usable = false;
      setKeepAlive(false);
      if (outcome === 'crashed' && !isBegun) return 'missed';
      return typeof outcome === 'string' ? outcome : { reply: outcome.reply };
    },
  };
}
