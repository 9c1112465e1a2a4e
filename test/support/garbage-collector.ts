import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Returns a function that runs a full garbage collection, so that a test measures only memory that is still in use. */
export function createForcedGarbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  return collect;
}
