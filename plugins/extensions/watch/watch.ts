import type { Log } from '#kernel';

export interface WatchOptions {
  /** A text that changes when what is watched does. */
  look(): Promise<string>;
  /** Called when what is watched has changed and has then stayed the same for a moment. */
  changed(): Promise<void>;
  readonly log: Pick<Log, 'warn'>;
  /** Milliseconds of quiet that several changes take to become one (conventions, "Mounting, order, collisions"). */
  readonly settle?: number;
}

export interface Watch {
  /** Resolves when it looks no more. */
  stop(): Promise<void>;
}

/** Large folders are looked at less often: looking takes this part of the time, as long as changes are seen soon. */
const SHARE = 20;
const LONGEST_WAIT = 1000;

/**
 * Looks again and again whether something has changed. Announcements of the file system are no substitute: they do not
 * follow links, are lost while folders are being made, and do not come at all from some mounted drives. A folder that is
 * copied slowly counts as changed once more each time it is found to have grown.
 */
export function watch({ look, changed, log, settle = 250 }: WatchOptions): Watch {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let known: string | undefined;
  let seen: string | undefined;
  let running: Promise<void> = Promise.resolve();

  async function round(): Promise<void> {
    const started = performance.now();
    const now = await look();
    const took = performance.now() - started;
    known ??= now;
    const isQuiet = now === seen;
    seen = now;
    if (now !== known && isQuiet && !isStopped) {
      known = now;
      await changed();
    }
    const hasNews = now !== known;
    next(hasNews ? settle : Math.max(settle, Math.min(took * SHARE, LONGEST_WAIT)));
  }

  function failed(error: unknown): void {
    log.warn({ err: error }, 'looking for changed extensions failed');
    next(settle * SHARE);
  }

  function next(wait: number): void {
    if (isStopped) return;
    timer = setTimeout(() => {
      running = round().catch(failed);
    }, wait);
    // Nobody waits for a change: a process that is done may end.
    timer.unref();
  }

  running = round().catch(failed);
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
