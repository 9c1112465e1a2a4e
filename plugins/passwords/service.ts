import { fail } from '#kernel';
import { toClientNetworkKey } from '../outbound/library.ts';
import type { WorkerPool } from '../workers/contract.ts';
import { createFairSemaphore } from '../workers/library.ts';
import type { PasswordHashRequester, PasswordService } from './contract.ts';
import { hasAcceptableCost } from './hash-cost.ts';
import { HASH_PROCESS_LIMITS, HASH_QUEUE_LIMITS } from './hash-process-limits.ts';
import type { HashCost, HashJob } from './worker-messages.ts';

interface Deps {
  readonly pool: Pick<WorkerPool, 'run'>;
  /** Number of processes of the pool. */
  readonly processes: number;
  readonly cost: HashCost;
}

const unavailable = (why: string) => {
  const text = `Passwords cannot be checked now: ${why}. Try again in ${HASH_QUEUE_LIMITS.retryAfter} seconds.`;
  return fail('SERVICE_UNAVAILABLE', text, { retryAfter: HASH_QUEUE_LIMITS.retryAfter });
};

/** A client that guesses passwords delays no other client: one client never holds all processes, nor the whole queue. */
export function createPasswordService({ pool, processes, cost }: Deps): PasswordService {
  const places = createFairSemaphore({
    limit: processes,
    limitOfKey: Math.max(1, processes - 1),
    queue: HASH_QUEUE_LIMITS.all,
    queueOfKey: HASH_QUEUE_LIMITS.client,
    deadline: HASH_QUEUE_LIMITS.deadline,
    refuse: (reason) => unavailable(reason === 'full' ? 'too many wait' : 'it takes too long'),
  });

  async function reply(job: HashJob, client: PasswordHashRequester | undefined): Promise<unknown> {
    const outcome = await places.run(keyOf(client), () => pool.run(job, { timeout: HASH_PROCESS_LIMITS.deadline }));
    if (typeof outcome === 'string') throw unavailable(`the process ended with "${outcome}"`);
    return outcome.reply;
  }

  async function hash(text: string, client?: PasswordHashRequester): Promise<string> {
    const hashed = await reply({ text, cost }, client);
    if (typeof hashed !== 'string') throw unavailable('the process answered no hash');
    return hashed;
  }

  return {
    hash,
    accepts: (text) => hasAcceptableCost(text, cost),
    async hashBeforeServing(text) {
      // Imported here only, so that later starts do not load the native library.
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

/** A signed-in user is one client on any network; requests without a user are grouped by network. */
const keyOf = (client: PasswordHashRequester | undefined): string =>
  client === undefined
    ? 'service'
    : client.user === null
      ? `network ${toClientNetworkKey(client.ip)}`
      : `user ${client.user}`;
