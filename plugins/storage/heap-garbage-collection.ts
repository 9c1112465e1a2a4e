import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { readonly type: 'minor' | 'major' }) => void;

/** Streamed bytes between two garbage collections: each buffer of a body is garbage shortly after it arrived. */
const COLLECT_EVERY = 8 * 1024 ** 2;

let collect: Collect | undefined;
let streamed = 0;

/**
 * Counts streamed bytes; call it with the size of each buffer. The buffers of some 64 KiB lie outside of V8's heap: V8 waits for
 * 64 MiB of them and then collects the whole heap. More frequent collections of young objects free them all: memory stays flat
 * with less work.
 */
export function countBytesForGarbageCollection(bytes: number): void {
  streamed += bytes;
  if (streamed < COLLECT_EVERY) return;
  streamed = 0;
  collect ??= createCollector();
  collect({ type: 'minor' });
}

/** Bytes by which V8's heap of old objects may grow between two collections. */
const MAX_GROWTH = 12 * 1024 ** 2;
/** Collecting a larger heap would stop the process for too long; V8 then collects it when it needs to. */
const MAX_COLLECTED_HEAP = 256 * 1024 ** 2;

/**
 * Keeps memory flat during long work that creates many objects: call the returned function now and then. A small part of
 * these objects becomes old before it is garbage, and V8 would let it take as much memory as all other objects.
 */
export function createHeapGrowthLimit(): () => void {
  let limit = readOldSpaceSize() + MAX_GROWTH;
  return () => {
    const size = readOldSpaceSize();
    if (size < limit || size > MAX_COLLECTED_HEAP) return;
    collect ??= createCollector();
    collect({ type: 'major' });
    limit = readOldSpaceSize() + MAX_GROWTH;
  };
}

const readOldSpaceSize = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0;

/** Creates a function that runs V8's garbage collection. Only a context created while the flag is set has `gc`. */
function createCollector(): Collect {
  setFlagsFromString('--expose-gc');
  const found = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return found;
}
