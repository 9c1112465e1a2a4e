/**
 * Measures the memory of a process and its descendants from a separate process, since a measurement blocks for a
 * quarter of a second.
 */
import { constants, setPriority } from 'node:os';
import { readProcessMemory, readProportionalMemory } from '../bench/process-cpu-memory.ts';

/** Memory of a process in bytes. */
export interface MemoryUse {
  /** Resident memory of the process itself. */
  readonly own: number;
  /** Memory of the process and its descendants; shared pages are divided by the number of processes that share them. */
  readonly all: number;
}

const INTERVAL_MS = 2000;

setPriority(0, constants.priority.PRIORITY_LOW);
const pid = Number(process.argv[2]);
let most: MemoryUse = { own: 0, all: 0 };

function measure(): void {
  const now = { own: readProcessMemory(pid).resident, all: readProportionalMemory(pid) };
  most = { own: Math.max(most.own, now.own), all: Math.max(most.all, now.all) };
}

/** Each message is answered with the maximum since the last one. */
process.on('message', () => {
  measure();
  process.send?.(most);
  most = { own: 0, all: 0 };
});
process.on('disconnect', () => process.exit());
setInterval(measure, INTERVAL_MS);
