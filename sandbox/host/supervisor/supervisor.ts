import { setTimeout as pause } from 'node:timers/promises';
import type { ContractEntry, Limits } from '../../protocol/messages.ts';
import type { Launcher } from '../child.ts';
import { BOUNDS, type Bounds } from './bounds.ts';
import type { RunFailure } from './failure.ts';
import { Fleet } from './fleet.ts';
import { Guest, type Program } from './guest.ts';
import { outside } from './outside.ts';

export type { Guest, Program } from './guest.ts';

export interface SupervisorOptions {
  readonly launcher: Launcher;
  readonly limits: Limits;
  /** Living processes at any moment, at least 1. */
  readonly processes: number;
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
  const fleet = new Fleet({ launcher, limits, processes, bounds, now, log });
  const guests = new Set<Guest>();
  const look = () => {
    for (const guest of guests) void guest.sweep();
    fleet.sweep();
  };
  const sweep = outside(() => setInterval(look, bounds.sweep).unref());
  let isClosed = false;

  /** A probe is no invocation: it may wait for its turn. */
  async function acquire() {
    const until = now() + bounds.probeWait;
    for (;;) {
      try {
        return await fleet.acquire();
      } catch (error) {
        if (isClosed || (error as RunFailure).code !== 'busy' || now() >= until) throw error;
        await pause(50);
      }
    }
  }

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
      const worker = await acquire();
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
      await Promise.all([...guests].map((guest) => guest.close()).concat(fleet.close()));
    },
  };
}
