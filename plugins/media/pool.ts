import { availableParallelism } from 'node:os';
import { PROCESS } from './limits.ts';
import type { Job } from './messages.ts';
import { type Outcome, startWorker, type Worker } from './worker.ts';

interface Aside {
  /** Hears what the process tells before it is done. */
  readonly note?: (message: Readonly<Record<string, unknown>>) => void;
  /** Done when it is the job's turn, before a process has it. */
  readonly prepare?: () => Promise<void>;
}

export interface Pool {
  /** `milliseconds` count from the moment a process has the job. Rejects only with what `prepare` rejects with. */
  run(job: Job, milliseconds: number, aside?: Aside): Promise<Outcome>;
  /** Ends all processes, with the jobs they have; resolves when they are gone. */
  stop(): Promise<void>;
}

interface Waiting {
  readonly job: Job;
  readonly milliseconds: number;
  readonly aside: Aside;
  readonly settle: (outcome: Outcome | Promise<Outcome>) => void;
}

export interface PoolOptions {
  readonly count?: number;
  readonly idle?: number;
}

/**
 * A few processes, started when they are needed and ended when they are not; who comes first is served first. Transformations
 * take `count` of them at most. There is one more, so that who uploads does not wait behind images that take their time.
 */
export function createPool({
  count = processesFor(availableParallelism()),
  idle = PROCESS.idle,
}: PoolOptions = {}): Pool {
  // All of them at work have one thread for each core.
  const threads = Math.max(1, Math.floor(availableParallelism() / count));
  const all = new Set<Worker>();
  const resting = new Map<Worker, NodeJS.Timeout>();
  const waiting: Waiting[] = [];
  const running = { inspect: 0, transform: 0 };
  let stopped = false;

  function start(): Worker {
    const worker = startWorker(threads);
    all.add(worker);
    void worker.gone.then(() => {
      all.delete(worker);
      clearTimeout(resting.get(worker));
      resting.delete(worker);
    });
    return worker;
  }

  /** The one that worked last: its memory is warm, and the others get the rest after which they end. */
  function take(): Worker {
    const rested = [...resting.keys()].reverse();
    for (const worker of rested) {
      clearTimeout(resting.get(worker));
      resting.delete(worker);
      if (worker.isFit()) return worker;
    }
    return start();
  }

  function rest(worker: Worker): void {
    if (stopped || !worker.isFit()) void worker.end();
    else resting.set(worker, setTimeout(() => void worker.end(), idle).unref());
  }

  async function attempt({ job, milliseconds, aside }: Waiting): Promise<Outcome | 'missed'> {
    if (stopped) return 'broken';
    const worker = take();
    const outcome = await worker.run(job, milliseconds, aside.note ?? (() => {}));
    rest(worker);
    return outcome;
  }

  /** A place is taken for it. */
  async function serve(first: Waiting): Promise<Outcome> {
    await first.aside.prepare?.();
    try {
      let outcome = await attempt(first);
      // One that was gone when the job came has no part in it: another gets it.
      if (outcome === 'missed') outcome = await attempt(first);
      return outcome === 'missed' ? 'broken' : outcome;
    } catch {
      // There is no room for another process, or for another pipe to one.
      return 'broken';
    }
  }

  function next(): void {
    while (running.inspect + running.transform <= count) {
      const at = waiting.findIndex(({ job }) => job.kind === 'inspect' || running.transform < count);
      const [first] = at < 0 ? [] : waiting.splice(at, 1);
      if (!first) return;
      const { kind } = first.job;
      running[kind]++;
      const served = serve(first).finally(() => running[kind]--);
      first.settle(served);
      void served.then(next, next);
    }
  }

  return {
    run(job, milliseconds, aside = {}) {
      if (stopped) return Promise.resolve('broken');
      return new Promise((settle) => {
        waiting.push({ job, milliseconds, aside, settle });
        next();
      });
    },
    async stop() {
      stopped = true;
      for (const { settle } of waiting.splice(0)) settle('broken');
      await Promise.all([...all].map((worker) => worker.end()));
    },
  };
}

const processesFor = (cores: number): number => Math.max(1, Math.min(cores, PROCESS.count));
