import { fail } from '#kernel';
import { toClientNetworkKey } from '../outbound/library.ts';
import type { FairSemaphore } from '../workers/contract.ts';
import { createFairSemaphore } from '../workers/library.ts';
import type { WindowLimits } from './limits.ts';

/** Wrong passwords of one share from one client network: further ones are refused, and those of other networks are not. */
const GUESSES_OF_NETWORK = { points: 10, seconds: 15 * 60 } as const;
/** Wrong passwords of one share from all networks. */
const GUESSES_OF_SHARE = { points: 100, seconds: 15 * 60 } as const;
/** Concurrent checks of one share in this process: further visitors wait, so that many with the right password use up no guesses. */
const CONCURRENT_CHECKS = { limit: 4, limitOfKey: 3, queue: 400, queueOfKey: 200, deadline: 10_000 } as const;
/** Seconds. */
const RETRY_AFTER = 2;

export interface PasswordGuesses {
  /**
   * Checks a password of a share by `check`, and counts it over all processes if it is wrong.
   * @throws REQUESTS_EXCEEDED after too many wrong ones, SERVICE_UNAVAILABLE where too many wait, and what `check` throws
   */
  count(share: string, ip: string | null, check: () => Promise<boolean>): Promise<boolean>;
}

export function createPasswordGuesses(limits: WindowLimits): PasswordGuesses {
  const semaphores = new Map<string, FairSemaphore>();

  /** Counts before the check, so that concurrent guesses are no more than allowed. */
  async function countGuess(share: string, network: string, check: () => Promise<boolean>): Promise<boolean> {
    const keys = [`guess ${share} ${network}`, `guess ${share}`] as const;
    // A network that has used up its guesses does not use up those of the others.
    const endOfNetwork = await limits.take(keys[0], GUESSES_OF_NETWORK, 1, share);
    if (endOfNetwork) throw tooManyGuesses(GUESSES_OF_NETWORK.points, endOfNetwork);
    const endOfShare = await limits.take(keys[1], GUESSES_OF_SHARE, 1, share);
    if (endOfShare) {
      // Refused networks leave no rows, whose number would have no limit.
      await limits.giveBack([keys[0]]);
      throw tooManyGuesses(GUESSES_OF_SHARE.points, endOfShare);
    }
    const isMatch = await check().catch(async (error) => {
      await limits.giveBack(keys);
      throw error;
    });
    if (isMatch) await limits.giveBack(keys);
    else await limits.removeEnded(share);
    return isMatch;
  }

  return {
    async count(share, ip, check) {
      const network = toClientNetworkKey(ip);
      const places = semaphores.get(share) ?? createFairSemaphore({ ...CONCURRENT_CHECKS, refuse: tooManyChecks });
      semaphores.set(share, places);
      try {
        return await places.run(network, () => countGuess(share, network, check));
      } finally {
        if (places.held === 0 && places.waiting === 0) semaphores.delete(share);
      }
    },
  };
}

const tooManyGuesses = (limit: number, end: Date) =>
  fail('REQUESTS_EXCEEDED', 'Too many wrong passwords of this share. Try again later.', {
    limit,
    reset: end.toISOString(),
  });

const tooManyChecks = () =>
  fail('SERVICE_UNAVAILABLE', 'Too many visitors of this share at a time. Try again later.', {
    retryAfter: RETRY_AFTER,
  });
