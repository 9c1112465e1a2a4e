import type { ContractEntry, GuestLimits } from '../../protocol/messages.ts';
import type { Launcher } from '../child.ts';
import { DEFAULT_BOUNDS, type SupervisorBounds } from './bounds.ts';
import type { ConfinedProgram } from './confined-program.ts';
import { ProcessPool } from './process-pool.ts';
import { SupervisedProgram } from './supervised-program.ts';
import { withoutRequestContext } from './without-request-context.ts';

export type { ConfinedProgram } from './confined-program.ts';
export type { SupervisedProgram } from './supervised-program.ts';

export interface SupervisorOptions {
  readonly launcher: Launcher;
  readonly limits: GuestLimits;
  /** Living processes at any moment, at least 1. */
  readonly processes: number;
  /** Processes that execute at a time; as many as may live unless told. */
  readonly slots?: number;
  /** Bytes that all processes may have together; no limit unless told. */
  readonly memory?: number;
  readonly log: { warn(data: object, text: string): void };
  readonly bounds?: Partial<SupervisorBounds>;
  /** Milliseconds that only grow. */
  readonly now?: () => number;
}

/** Keeps the processes of confined programs: it knows neither what they are for nor what they may ask. */
export interface Supervisor {
  open(program: ConfinedProgram): SupervisedProgram;
  /** Evaluates a script in a process of its own. Rejects with `invalid-entry`, `timeout`, `crash`, `busy` or `internal`. */
  probe(script: string): Promise<readonly ContractEntry[]>;
  /** Processes from launch until they are reaped. */
  living(): number;
  /** Ends everything; resolves when no process is left. */
  close(): Promise<void>;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { launcher, limits, processes, log, now = () => performance.now() } = options;
  const bounds: SupervisorBounds = { ...DEFAULT_BOUNDS, ...options.bounds };
  const slots = options.slots ?? processes;
  const memory = options.memory ?? Number.POSITIVE_INFINITY;
  const pool = new ProcessPool({ launcher, limits, processes, slots, memory, bounds, now, log });
  const programs = new Set<SupervisedProgram>();
  const sweepAll = () => {
    for (const program of programs) void program.sweep();
    pool.sweep();
  };
  const sweep = withoutRequestContext(() => setInterval(sweepAll, bounds.sweepInterval).unref());
  const limitMemory = () => void pool.limitMemory();
  const memoryWatch = Number.isFinite(memory)
    ? withoutRequestContext(() => setInterval(limitMemory, bounds.memoryInterval).unref())
    : undefined;
  let isClosed = false;

  return {
    open(confined) {
      const program: SupervisedProgram = new SupervisedProgram(confined, {
        pool,
        limits,
        bounds,
        now,
        log,
        onClosed: () => void programs.delete(program),
      });
      programs.add(program);
      pool.markUsed();
      pool.prepareSpare();
      return program;
    },
    async probe(script) {
      // A probe is no invocation: it may wait for its turn.
      const until = now() + bounds.probeTimeout;
      const worker = await pool.acquire(0, () => !isClosed && now() < until);
      // Programs come in rows, so the process for the next one starts meanwhile.
      pool.prepareSpare();
      try {
        return await worker.load(script, false);
      } finally {
        await worker.end();
        pool.prepareSpare();
      }
    },
    living: () => pool.living,
    async close() {
      if (isClosed) return;
      isClosed = true;
      clearInterval(sweep);
      clearInterval(memoryWatch);
      await Promise.all([...programs].map((program) => program.close()).concat(pool.close()));
    },
  };
}
