import type { ContractEntry, Limits } from '../../protocol/messages.ts';
import type { Launcher } from '../child.ts';
import { BOUNDS, type Bounds } from './bounds.ts';
import { Fleet } from './fleet.ts';
import { Guest } from './guest.ts';
import { outside } from './outside.ts';
import type { Program } from './program.ts';

export type { Guest } from './guest.ts';
export type { Program } from './program.ts';

export interface SupervisorOptions {
  readonly launcher: Launcher;
  readonly limits: Limits;
  /** Living processes at any moment, at least 1. */
  readonly processes: number;
  /** Processes that execute at a time; as many as may live unless told. */
  readonly places?: number;
  /** Bytes that all processes may have together; no limit unless told. */
  readonly memory?: number;
  readonly log: { warn(data: object, text: string): void };
  readonly bounds?: Partial<Bounds>;
  /** Milliseconds that only grow. */
  readonly now?: () => number;
}

/** Keeps the processes of confined programs: it knows neither what they are for nor what they may ask. */
export interface Supervisor {
  open(program: Program): Guest;
  /** Evaluates a script in a process of its own. Rejects with `invalid-entry`, `timeout`, `crash`, `busy` or `internal`. */
  probe(script: string): Promise<readonly ContractEntry[]>;
  /** Processes from launch until they are reaped. */
  living(): number;
  /** Ends everything; resolves when no process is left. */
  close(): Promise<void>;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { launcher, limits, processes, log, now = () => performance.now() } = options;
  const bounds: Bounds = { ...BOUNDS, ...options.bounds };
  const places = options.places ?? processes;
  const memory = options.memory ?? Number.POSITIVE_INFINITY;
  const fleet = new Fleet({ launcher, limits, processes, places, memory, bounds, now, log });
  const guests = new Set<Guest>();
  const look = () => {
    for (const guest of guests) void guest.sweep();
    fleet.sweep();
  };
  const sweep = outside(() => setInterval(look, bounds.sweep).unref());
  const limitMemory = () => void fleet.limitMemory();
  const memoryWatch = Number.isFinite(memory)
    ? outside(() => setInterval(limitMemory, bounds.memory).unref())
    : undefined;
  let isClosed = false;

  return {
    open(program) {
      const guest: Guest = new Guest(program, {
        fleet,
        limits,
        bounds,
        now,
        log,
        left: () => void guests.delete(guest),
      });
      guests.add(guest);
      fleet.used();
      fleet.prepare();
      return guest;
    },
    async probe(script) {
      // A probe is no invocation: it may wait for its turn.
      const until = now() + bounds.probeWait;
      const worker = await fleet.acquire(0, () => !isClosed && now() < until);
      // Programs come in rows, so the process for the next one starts meanwhile.
      fleet.prepare();
      try {
        return await worker.load(script, false);
      } finally {
        await worker.end();
        fleet.prepare();
      }
    },
    living: () => fleet.living,
    async close() {
      if (isClosed) return;
      isClosed = true;
      clearInterval(sweep);
      clearInterval(memoryWatch);
      await Promise.all([...guests].map((guest) => guest.close()).concat(fleet.close()));
    },
  };
}
