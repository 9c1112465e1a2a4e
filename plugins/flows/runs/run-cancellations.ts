import type { InterProcessBus } from '../../cluster/contract.ts';
import { RunCancellation } from '../state/run-break.ts';

const CHANNEL = 'flows.cancel';

/** Runs of this process that can be cancelled from any process. */
export interface RunCancellations {
  /** Runs `work` with a signal that aborts when the run is cancelled. */
  run<T>(id: string, work: (cancelled: AbortSignal) => Promise<T>): Promise<T>;
  /** Aborts the run wherever it runs. */
  announce(id: string): Promise<void>;
}

export function createRunCancellations(bus: Pick<InterProcessBus, 'publish' | 'subscribe'>): RunCancellations {
  const running = new Map<string, AbortController>();
  bus.subscribe(CHANNEL, (payload) => running.get((payload as { run: string }).run)?.abort(new RunCancellation()));
  return {
    async run(id, work) {
      const controller = new AbortController();
      running.set(id, controller);
      try {
        return await work(controller.signal);
      } finally {
        running.delete(id);
      }
    },
    announce: (run) => bus.publish(CHANNEL, { run }),
  };
}
