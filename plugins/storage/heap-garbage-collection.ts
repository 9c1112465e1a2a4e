import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { readonly type: 'minor' }) => void;

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

/** Creates a function that runs V8's garbage collection. Only a context created while the flag is set has `gc`. */
function createCollector(): Collect {
  setFlagsFromString('--expose-gc');
  const found = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return found;
}
