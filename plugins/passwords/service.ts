import { fail } from '#kernel';
import { networkOf } from '../outbound/library.ts';
import type { WorkerPool } from '../workers/contract.ts';
import { createFairSemaphore } from '../workers/library.ts';
import type { PasswordClient, Passwords } from './contract.ts';
import { PROCESS, QUEUE } from './limits.ts';
import type { Cost, Job } from './messages.ts';

interface Deps {
  readonly pool: Pick<WorkerPool, 'run'>;
  /** Processes of the pool. */
  readonly processes: number;
  readonly cost: Cost;
}

const unavailable = (why: string) => {
  const text = `Passwords cannot be checked now: ${why}. Try again in ${QUEUE.retryAfter} seconds.`;
  return fail('SERVICE_UNAVAILABLE', text, { retryAfter: QUEUE.retryAfter });
};

/** Whoever guesses passwords takes his own turns: one client never has all processes, nor the whole queue. */
export function createPasswords({ pool, processes, cost }: Deps): Passwords {
  const places = createFairSemaphore({
    limit: processes,
    limitOfKey: Math.max(1, processes - 1),
    queue: QUEUE.all,
    queueOfKey: QUEUE.client,
    deadline: QUEUE.deadline,
    refuse: (reason) => unavailable(reason === 'full' ? 'too many wait' : 'it takes too long'),
  });

  async function reply(job: Job, client: PasswordClient | undefined): Promise<unknown> {
    const outcome = await places.run(keyOf(client), () => pool.run(job, { timeout: PROCESS.deadline }));
    if (typeof outcome === 'string') throw unavailable(`the process ended with "${outcome}"`);
    return outcome.reply;
  }

  async function hash(text: string, client?: PasswordClient): Promise<string> {
    const made = await reply({ text, cost }, client);
    if (typeof made !== 'string') throw unavailable('the process made no hash');
    return made;
  }

  return {
    hash,
    async hashBeforeServing(text) {
      // The native library stays out of this process at all other starts.
      const { argon2Hash } = await import('./argon2-hash.ts');
      return argon2Hash(text, cost);
    },
    async verify(stored, text, client) {
      if (stored !== null) return (await reply({ text, stored }, client)) === true;
      await hash(text, client);
      return false;
    },
  };
}

/** A user who is signed in counts by himself, wherever he is; all others by their networks. */
const keyOf = (client: PasswordClient | undefined): string =>
  client === undefined ? 'service' : client.user === null ? `network ${networkOf(client.ip)}` : `user ${client.user}`;
