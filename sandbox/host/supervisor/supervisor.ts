import type { ArtifactExport, GuestLimits } from '../../protocol/messages.ts';
import type { ConfinedChildLauncher } from '../confined-child.ts';
import { DEFAULT_SUPERVISOR_BOUNDS, type SupervisorBounds } from './bounds.ts';
import type { ConfinedProgram } from './confined-program.ts';
import { ProcessPool } from './process-pool.ts';
import { SupervisedProgram } from './supervised-program.ts';
import { withoutRequestContext } from './without-request-context.ts';

export type { ConfinedProgram } from './confined-program.ts';
export type { SupervisedProgram } from './supervised-program.ts';

export interface SupervisorOptions {
  readonly launcher: ConfinedChildLauncher;
  readonly limits: GuestLimits;
  /** Living processes at any moment, at least 1. */
  readonly processes: number;
  /** Execution slots: processes that execute at a time. Default: `processes`. */
  readonly slots?: number;
  /** Resident bytes of all processes together. Default: no limit. */
  readonly memory?: number;
  readonly log: { warn(data: object, text: string): void };
  readonly bounds?: Partial<SupervisorBounds>;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
}

/** Runs confined programs in processes. It knows neither their purpose nor their grants. */
export interface Supervisor {
  open(program: ConfinedProgram): SupervisedProgram;
  /** Evaluates a script in a process of its own. Rejects with `invalid-entry`, `timeout`, `crash`, `busy` or `internal`. */
  probe(script: string): Promise<readonly ArtifactExport[]>;
  /** The number of processes, from launch until they are reaped. */
  living(): number;
  /** Ends all processes and resolves when they are reaped. */
  close(): Promise<void>;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { launcher, limits, processes, log, now = () => performance.now() } = options;
  const bounds: SupervisorBounds = { ...DEFAULT_SUPERVISOR_BOUNDS, ...options.bounds };
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
      // A probe is no invocation and may wait longer.
      const until = now() + bounds.probeTimeout;
      const worker = await pool.acquire(0, () => !isClosed && now() < until);
      // Several programs are usually probed in sequence, so a process for the next one starts meanwhile.
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
