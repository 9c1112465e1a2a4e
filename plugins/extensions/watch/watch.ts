import type { Log } from '#kernel';

export interface WatchOptions {
  /** A text that changes when what is watched does. */
  readState(): Promise<string>;
  /** Called when what is watched has changed and has then stayed the same for a moment. */
  onChange(): Promise<void>;
  readonly log: Pick<Log, 'warn'>;
  /** Milliseconds of quiet that several changes take to become one (conventions, "Mounting, order, collisions"). */
  readonly settle?: number;
}

export interface Watch {
  /** Resolves when it looks no more. */
  stop(): Promise<void>;
}

/** Large folders are looked at less often: looking takes this part of the time, as long as changes are seen soon. */
const INTERVAL_FACTOR = 20;
const MAX_INTERVAL = 1000;

/**
 * Looks again and again whether something has changed. Announcements of the file system are no substitute: they do not
 * follow links, are lost while folders are being made, and do not come at all from some mounted drives. A folder that is
 * copied slowly counts as changed once more each time it is found to have grown.
 */
export function watch({ readState, onChange, log, settle = 250 }: WatchOptions): Watch {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let reported: string | undefined;
  let previous: string | undefined;
  let running: Promise<void> = Promise.resolve();

  async function checkOnce(): Promise<void> {
    const started = performance.now();
    const now = await readState();
    const took = performance.now() - started;
    reported ??= now;
    const isUnchanged = now === previous;
    previous = now;
    if (now !== reported && isUnchanged && !isStopped) {
      reported = now;
      await onChange();
    }
    const hasUnreported = now !== reported;
    scheduleCheck(hasUnreported ? settle : Math.max(settle, Math.min(took * INTERVAL_FACTOR, MAX_INTERVAL)));
  }

  function failed(error: unknown): void {
    log.warn({ err: error }, 'looking for changed extensions failed');
    scheduleCheck(settle * INTERVAL_FACTOR);
  }

  function scheduleCheck(wait: number): void {
    if (isStopped) return;
    timer = setTimeout(() => {
      running = checkOnce().catch(failed);
    }, wait);
    // Nobody waits for a change: a process that is done may end.
    timer.unref();
  }

  running = checkOnce().catch(failed);
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
