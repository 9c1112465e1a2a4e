import type { Log } from '#kernel';

export interface WatchOptions {
  /** Answers a text that changes when the watched folder changes. */
  readState(): Promise<string>;
  /** Called when the folder has changed and then stayed the same for `settle` milliseconds. */
  onChange(): Promise<void>;
  readonly log: Pick<Log, 'warn'>;
  /**
   * Milliseconds without a change after which several changes count as one; default 250 (conventions, "Mounting, order,
   * collisions").
   */
  readonly settle?: number;
}

export interface FolderWatch {
  /** Resolves when no check runs any more. */
  stop(): Promise<void>;
}

/**
 * The pause between checks is this many times the duration of a check, up to MAX_INTERVAL: large folders are checked
 * less often.
 */
const INTERVAL_FACTOR = 20;
const MAX_INTERVAL = 1000;

/**
 * Polls for changes. Notifications of the file system are no substitute: they do not follow links, are lost while
 * folders are being created, and are missing on some mounted drives. A folder that is copied slowly counts as changed
 * again each time that it has grown.
 */
export function watchFolder({ readState, onChange, log, settle = 250 }: WatchOptions): FolderWatch {
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
    // The timer must not keep a process alive that has nothing else to do.
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
