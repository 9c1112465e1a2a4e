import { LRUCache } from 'lru-cache';
import type { ByteRange, OpenedStorageObject, StorageService } from '../../storage/contract.ts';
import { MAX_BUFFERED_BYTES, type WholeStoredObject } from '../variant.ts';
import { collectBytes } from './stream-length.ts';

/** Maximum bytes of all cached objects together. */
const MAX_CACHE_BYTES = 16 * 1024 * 1024;
/** Milliseconds until storage is read again, so that an object removed by hand is not served for ever. */
const CACHE_TTL = 60_000;

/** Cache of small objects. Objects never change their bytes (`plugins/storage/contract.ts`). */
export interface StoredObjectCache {
  /** Reads a whole object from memory, else by `open`; undefined if `open` finds nothing. */
  readWhole(
    location: string,
    name: string,
    open: () => Promise<WholeStoredObject | undefined>,
  ): Promise<WholeStoredObject | undefined>;
  open(location: string, name: string, range?: ByteRange): Promise<OpenedStorageObject | undefined>;
  /** The size of an object in bytes; undefined if there is no such object. */
  size(location: string, name: string): Promise<number | undefined>;
  /** The size of an object in bytes, from memory if it was read before, without checking that the object still exists. */
  cachedSize(location: string, name: string): Promise<number | undefined>;
}

export function createStoredObjectCache(storage: Pick<StorageService, 'at'>): StoredObjectCache {
  const buffers = new LRUCache<string, Buffer>({
    maxSize: MAX_CACHE_BYTES,
    // A cache entry takes about 500 bytes beside the bytes of the object.
    sizeCalculation: (bytes) => bytes.length + 500,
    ttl: CACHE_TTL,
  });
  // An object is cached with its second request, so that single requests do not evict others.
  const requestedOnce = new LRUCache<string, true>({ max: 10_000 });
  const sizes = new LRUCache<string, number>({ max: 10_000 });
  const keyOf = (location: string, name: string) => `${location}/${name}`;

  function remember(key: string, bytes: Buffer): void {
    if (requestedOnce.get(key)) buffers.set(key, copyToOwnBuffer(bytes));
    else requestedOnce.set(key, true);
  }

  async function size(location: string, name: string): Promise<number | undefined> {
    const key = keyOf(location, name);
    const found = buffers.get(key)?.length ?? (await storage.at(location).stat(name))?.size;
    if (found !== undefined) sizes.set(key, found);
    return found;
  }

  return {
    async readWhole(location, name, open) {
      const key = keyOf(location, name);
      const buffer = buffers.get(key);
      if (buffer) return { size: buffer.length, buffer };
      const opened = await open();
      if (!opened || opened.size > MAX_BUFFERED_BYTES) return opened;
      const bytes = opened.buffer ?? (await collectBytes(opened));
      remember(key, bytes);
      return { size: bytes.length, buffer: bytes };
    },
    open: async (location, name, range) => storage.at(location).open(name, range),
    size,
    cachedSize: async (location, name) => sizes.get(keyOf(location, name)) ?? size(location, name),
  };
}

/** A copy in a buffer of its own: a slice would keep the whole buffer that it belongs to. */
function copyToOwnBuffer(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}
