import { BrokerRefusal } from '../../broker/library.ts';
import type { KeyedSemaphores } from '../../workers/contract.ts';
import { createKeyedSemaphores } from '../../workers/library.ts';

/** Concurrent calls of one package: connections are few, and all packages share them. */
const MAX_CONCURRENT_CALLS = 4;

/** Runs `work` once the package has a free place. @throws Refusal `timeout` where `signal` aborts before that. */
export type RunWithinCallLimit = <T>(name: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/** Creates the limit of concurrent calls. Waiting calls of one package run first in, first out. */
export function createCallLimit(
  semaphores: KeyedSemaphores = createKeyedSemaphores({ limit: MAX_CONCURRENT_CALLS }),
): RunWithinCallLimit {
  return async (name, signal, work) => {
    let hasBegun = false;
    try {
      return await semaphores.run(
        name,
        () => {
          hasBegun = true;
          return work();
        },
        signal,
      );
    } catch (error) {
      throw hasBegun
        ? error
        : new BrokerRefusal('timeout', 'The package had no free place for the call before its deadline.');
    }
  };
}
