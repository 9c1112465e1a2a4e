import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Answers a function that collects what nobody holds any more, so that what is in use can be told from what was. */
export function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  return collect;
}
