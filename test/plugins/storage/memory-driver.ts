import { Readable } from 'node:stream';
import type { StorageDriver } from '../../../plugins/storage/contract.ts';

export interface MemoryStorageDriver extends StorageDriver {
  readonly objects: Map<string, { data: Buffer; modified: Date }>;
  /** The names and prefixes of all calls of the driver. */
  readonly seen: string[];
  closed: number;
}

/** A storage driver that keeps objects in memory and records the names it is called with. */
export function createMemoryStorageDriver(): MemoryStorageDriver {
  const objects: MemoryStorageDriver['objects'] = new Map();
  const seen: string[] = [];
  const about = (name: string) => {
    seen.push(name);
    const found = objects.get(name);
    return found && { name, size: found.data.length, modified: found.modified };
  };
  return {
    objects,
    seen,
    closed: 0,
    async open(name, range) {
      if (!about(name)) return undefined;
      const { data } = objects.get(name) as { data: Buffer };
      return { size: data.length, bytes: Readable.from([range ? data.subarray(range.start, range.end + 1) : data]) };
    },
    async write(name, source) {
      seen.push(name);
      const parts: Uint8Array[] = [];
      for await (const part of source) parts.push(Buffer.from(part));
      const data = Buffer.concat(parts);
      objects.set(name, { data, modified: new Date() });
      return data.length;
    },
    async remove(name) {
      seen.push(name);
      objects.delete(name);
    },
    stat: async (name) => about(name),
    async *list(prefix) {
      seen.push(prefix);
      for (const [name, { data, modified }] of objects) {
        if (name.startsWith(prefix)) yield { name, size: data.length, modified };
      }
    },
    async close() {
      this.closed++;
    },
  };
}
