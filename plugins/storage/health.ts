import { randomUUID } from 'node:crypto';
import type { HealthCheck } from '../server/contract.ts';
import type { Location } from './contract.ts';

const PROBE = Buffer.from('written, read and removed to see whether this place can be used\n');

/** Whether a location takes, gives and drops an object, and how long that takes. */
export function locationCheck(name: string, threshold: number, at: () => Location): HealthCheck {
  let running: Promise<void> | undefined;
  /** What could not be removed goes with the next check. */
  const left = new Set<string>();
  return {
    name: `storage:${name}:responseTime`,
    componentType: 'objectstore',
    threshold,
    async check() {
      const begin = performance.now();
      // A place that does not answer is not asked once more by each check.
      running ??= probe(at(), left).finally(() => (running = undefined));
      await running;
      return { value: Math.round((performance.now() - begin) * 1000) / 1000 };
    },
  };
}

async function* bytes(): AsyncGenerator<Uint8Array> {
  yield PROBE;
}

async function probe(location: Location, left: Set<string>): Promise<void> {
  const name = `health-${randomUUID()}.txt`;
  try {
    await location.write(name, bytes(), { type: 'text/plain' });
    const opened = await location.open(name);
    if (!opened) throw new Error('what was written is not there');
    const parts: Buffer[] = [];
    for await (const part of opened.bytes) parts.push(part);
    if (!Buffer.concat(parts).equals(PROBE)) throw new Error('what is read is not what was written');
  } finally {
    for (const one of left.add(name)) {
      await location.remove(one);
      left.delete(one);
    }
  }
}
