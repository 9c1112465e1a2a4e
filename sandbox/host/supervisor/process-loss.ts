import type { SupervisorBounds } from './bounds.ts';
import type { ConfinedProgram } from './confined-program.ts';
import { type ProcessEndCause, renderProcessEndCause } from './end-cause.ts';
import type { SupervisedProcess } from './supervised-process.ts';

interface Log {
  warn(data: object, text: string): void;
}

/** Logs the unrequested end of a process. Resolves with the reason once the process is reaped. */
export async function logProcessLoss(
  { name }: ConfinedProgram,
  worker: SupervisedProcess,
  cause: ProcessEndCause,
  log: Log,
): Promise<string> {
  const { code, signal, isOutOfMemory } = await worker.exited;
  const reason = isOutOfMemory ? 'it used more memory than it may' : renderProcessEndCause(cause);
  const { fault } = worker;
  const about = { extension: name, code, signal, ...(fault !== undefined && { err: fault }) };
  log.warn(about, `a process of confined code was lost: ${reason}`);
  return reason;
}

/** Calls `onParked` of a program that is parked, which means that it is not started again. */
export function reportNoFurtherRestart(
  program: ConfinedProgram,
  reason: string,
  { bounds, log }: { bounds: SupervisorBounds; log: Log },
): void {
  const seconds = bounds.crashWindow / 1000;
  try {
    program.onParked(`Failed too often within ${seconds} seconds and is not started again; at last, ${reason}.`);
  } catch (error) {
    log.warn({ err: error, extension: program.name }, 'the handler for parked confined code failed');
  }
}
