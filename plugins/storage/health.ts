import { randomUUID } from 'node:crypto';
import type { HealthCheck } from '../server/contract.ts';
import type { StorageLocation } from './contract.ts';

const PROBE = Buffer.from('written, read and removed to see whether this place can be used\n');

/** Objects that one check removes, its own first: the location is measured, and there may be many after an outage. */
const REMOVALS = 5;
/** Objects that could not be removed are known up to this number; the oldest are forgotten. */
const MAX_LEFTOVERS = 1000;

/** Creates a health check that writes, reads and removes an object in the location, and measures the time. */
export function createStorageLocationCheck(name: string, threshold: number, at: () => StorageLocation): HealthCheck {
  let running: Promise<void> | undefined;
  /** Objects that could not be removed: the next checks remove them. */
  const leftovers = new Set<string>();
  return {
    name: `storage:${name}:responseTime`,
    componentType: 'objectstore',
    threshold,
    async check() {
      const begin = performance.now();
      // Checks share one probe, so that a location that hangs does not get one from each check.
      running ??= probe(at(), leftovers).finally(() => (running = undefined));
      await running;
      return { value: Math.round((performance.now() - begin) * 1000) / 1000 };
    },
  };
}

async function* probeBytes(): AsyncGenerator<Uint8Array> {
  yield PROBE;
}

async function probe(location: StorageLocation, leftovers: Set<string>): Promise<void> {
  const name = `health-${randomUUID()}.txt`;
  try {
    await location.write(name, probeBytes(), { type: 'text/plain' });
    const opened = await location.open(name);
    if (!opened) throw new Error('the object that was written is missing');
    const parts: Buffer[] = [];
    for await (const part of opened.bytes) parts.push(part);
    if (!Buffer.concat(parts).equals(PROBE)) throw new Error('the bytes read are not the bytes written');
  } finally {
    const [oldest] = leftovers;
    if (oldest !== undefined && leftovers.size >= MAX_LEFTOVERS) leftovers.delete(oldest);
    for (const one of [...leftovers.add(name)].slice(-REMOVALS).reverse()) {
      await location.remove(one);
      leftovers.delete(one);
    }
  }
}
