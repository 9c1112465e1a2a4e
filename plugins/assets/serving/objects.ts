import { LRUCache } from 'lru-cache';
import type { ByteRange, Opened, Storage } from '../../storage/contract.ts';
import { SMALL, type Whole } from '../variant.ts';
import { collected } from './whole-bytes.ts';

/** Bytes of small objects that are remembered. */
const MEMORY = 16 * 1024 * 1024;
/** Milliseconds after which storage is asked again, lest what somebody removed there by hand be served for ever. */
const LIFE = 60_000;

/** Objects never change their bytes (`plugins/storage/contract.ts`), so what was read once may be sent again. */
export interface Objects {
  /** From memory, else by `open`; undefined where that has nothing. */
  whole(location: string, name: string, open: () => Promise<Whole | undefined>): Promise<Whole | undefined>;
  open(location: string, name: string, range?: ByteRange): Promise<Opened | undefined>;
  /** Undefined where there is no such object. */
  size(location: string, name: string): Promise<number | undefined>;
  /** The same, without looking whether an object that was there once is there still. */
  sizeOnce(location: string, name: string): Promise<number | undefined>;
}

export function createObjects(storage: Pick<Storage, 'at'>): Objects {
  const remembered = new LRUCache<string, Buffer>({
    maxSize: MEMORY,
    // An entry costs something by itself.
    sizeCalculation: (bytes) => bytes.length + 500,
    ttl: LIFE,
  });
  // What is asked for once only is not worth the place of what comes again.
  const asked = new LRUCache<string, true>({ max: 10_000 });
  const sizes = new LRUCache<string, number>({ max: 10_000 });
  const keyOf = (location: string, name: string) => `${location}/${name}`;

  function remember(key: string, bytes: Buffer): void {
    if (asked.get(key)) remembered.set(key, alone(bytes));
    else asked.set(key, true);
  }

  async function size(location: string, name: string): Promise<number | undefined> {
    const key = keyOf(location, name);
    const found = remembered.get(key)?.length ?? (await storage.at(location).stat(name))?.size;
    if (found !== undefined) sizes.set(key, found);
    return found;
  }

  return {
    async whole(location, name, open) {
      const key = keyOf(location, name);
      const buffer = remembered.get(key);
      if (buffer) return { size: buffer.length, buffer };
      const opened = await open();
      if (!opened || opened.size > SMALL) return opened;
      const bytes = opened.buffer ?? (await collected(opened));
      remember(key, bytes);
      return { size: bytes.length, buffer: bytes };
    },
    open: async (location, name, range) => storage.at(location).open(name, range),
    size,
    sizeOnce: async (location, name) => sizes.get(keyOf(location, name)) ?? size(location, name),
  };
}

/** In memory of its own: a few bytes would keep the whole piece that they were cut from. */
function alone(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}
