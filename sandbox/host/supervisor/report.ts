import type { Bounds } from './bounds.ts';
import { type Cause, describe } from './cause.ts';
import type { Program } from './program.ts';
import type { Worker } from './worker.ts';

interface Log {
  warn(data: object, text: string): void;
}

/** Logs how a process ended that did not end as it was asked to. Resolves with the reason, once it is reaped. */
export async function reportLoss({ name }: Program, worker: Worker, cause: Cause, log: Log): Promise<string> {
  const { code, signal, memory } = await worker.gone;
  const reason = memory ? 'it used more memory than it may' : describe(cause);
  const { fault } = worker;
  const about = { extension: name, code, signal, ...(fault !== undefined && { err: fault }) };
  log.warn(about, `a process of confined code was lost: ${reason}`);
  return reason;
}

/** Tells whoever opened the program that it is not started again. */
export function reportParked(program: Program, reason: string, { bounds, log }: { bounds: Bounds; log: Log }): void {
  const seconds = bounds.crashWindow / 1000;
  try {
    program.onParked(`Failed too often within ${seconds} seconds and is not started again; at last, ${reason}.`);
  } catch (error) {
    log.warn({ err: error, extension: program.name }, 'nobody could be told that confined code was given up');
  }
}
