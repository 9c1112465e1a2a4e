import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { readonly type: 'minor' }) => void;

/** Bytes that may lie around: each such part of a body is left to the collector a moment after it came. */
const STEP = 8 * 1024 ** 2;

let collect: Collect | undefined;
let passed = 0;

/**
 * To be told of bytes as they pass. They come in buffers of some 64 KiB outside of V8's heap, of which it takes little
 * notice: it waits for 64 MiB of them, and then goes through the whole heap. Looking through the young objects alone, and more
 * often, finds them all: memory stays flat, and it is less work.
 */
export function passing(bytes: number): void {
  passed += bytes;
  if (passed < STEP) return;
  passed = 0;
  collect ??= collector();
  collect({ type: 'minor' });
}

/** A context that is made while the flag is set has it, and only that one. */
function collector(): Collect {
  setFlagsFromString('--expose-gc');
  const found = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return found;
}
