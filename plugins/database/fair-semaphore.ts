import { fail } from '#kernel';
import { resolveSignal, type SignalSource } from './cancel.ts';
import type { Share } from './contract.ts';

/** Places that are asked for again and again, shared fairly (ADR 32). */
export interface FairSemaphore {
  /** Takes a place: undefined where there was one, else a promise of it. @throws SERVICE_UNAVAILABLE where too many wait already */
  acquire(share: Share, signal: SignalSource | undefined): Promise<void> | undefined;
  /** Gives the place back. */
  release(share: Share): void;
  readonly held: number;
  readonly waiting: number;
  /** Milliseconds that the longest wait of the moment has taken; 0 where none waits. */
  longestWait(): number;
  /** Milliseconds since the epoch at which a request was last refused a place; 0 where none was. */
  readonly refusedAt: number;
}

export interface FairSemaphoreOptions {
  readonly limit: number;
  /** Milliseconds that a request waits at most. */
  readonly deadline: number;
  /** What there are too few of, for the message of a refusal. */
  readonly label: string;
}

/** Of statements for which no plugin is known: migrations, and the query builder. */
export const SERVICE_SHARE: Share = { collection: undefined, client: 'service', rank: 'service' };

/** A collection that holds places may have more while it has fewer than this many times those that are left, but for one. */
const COLLECTION_FACTOR = 4;
/** The same for a client, whose statements of one collection then leave it some for another. */
const CLIENT_FACTOR = 9;
/** Requests that may wait, for each place; those of one group may be half of them. */
const MAX_WAITERS_PER_SLOT = 100;
/** Milliseconds between looks at those that wait. */
const SWEEP_INTERVAL = 50;
/** Seconds after which a refused client may try again. */
const RETRY_AFTER = 1;

interface Waiter {
  /** Milliseconds of the clock of `performance`. */
  readonly since: number;
  readonly signal: SignalSource | undefined;
  resolve(): void;
  reject(error: unknown): void;
}

/** Waiters of the same share, in the order in which they came. */
interface WaiterGroup {
  readonly share: Share;
  readonly waiters: Set<Waiter>;
}

export const createFairSemaphore = (options: FairSemaphoreOptions): FairSemaphore => new PoolSemaphore(options);

/**
 * A collection may hold four times as many places as it leaves free, a client a few more than one collection, and both leave one at
 * least: the first to come gets most of them, and a statement that hangs keeps out neither other collections nor other clients, nor
 * what its own client asks of other collections. One place in ten is for admins and the service's own statements, such as those of a
 * login. A pool of one or two has nothing to share.
 */
class PoolSemaphore implements FairSemaphore {
  readonly #options: FairSemaphoreOptions;
  readonly #collections = new Map<string, number>();
  readonly #clients = new Map<string, number>();
  readonly #groups = new Map<string, WaiterGroup>();
  /** Places that requests leave to admins and the service. */
  readonly #reserved: number;
  /** Places that a share leaves which holds some. */
  readonly #spare: number;
  held = 0;
  waiting = 0;
  refusedAt = 0;
  #sweepTimer: NodeJS.Timeout | undefined;

  constructor(options: FairSemaphoreOptions) {
    const { limit } = options;
    this.#options = options;
    this.#reserved = limit < 4 ? 0 : Math.max(1, Math.floor(limit / 10));
    this.#spare = limit < 3 ? 0 : 1;
  }

  acquire(share: Share, signal: SignalSource | undefined): Promise<void> | undefined {
    if (!this.#fits(share)) return this.#wait(share, signal);
    this.#count(share);
    return undefined;
  }

  release({ collection, client }: Share): void {
    this.held--;
    decrement(this.#clients, client);
    if (collection !== undefined) decrement(this.#collections, collection);
    if (this.waiting > 0) this.#wakeWaiters();
  }

  longestWait(): number {
    const first = Math.min(...[...this.#groups.values()].flatMap(({ waiters: [next] }) => next?.since ?? []));
    return Number.isFinite(first) ? performance.now() - first : 0;
  }

  #fits({ collection, client, rank }: Share): boolean {
    const { limit } = this.#options;
    const free = limit - this.held - (rank === 'request' ? this.#reserved : 0);
    if (free <= 0) return false;
    const ofClient = this.#clients.get(client) ?? 0;
    const ofCollection = collection === undefined ? 0 : (this.#collections.get(collection) ?? 0);
    const isFirst = ofClient === 0 && ofCollection === 0;
    // The last one is also for a client of whose statements few hang, in another collection.
    const isNew = Math.min(ofClient, ofCollection) === 0 && Math.max(ofClient, ofCollection) < limit / 3;
    const isBelowLimits = ofCollection < COLLECTION_FACTOR * (free - this.#spare) && ofClient < CLIENT_FACTOR * free;
    return isFirst || isNew || (isBelowLimits && free > this.#spare);
  }

  #count({ collection, client }: Share): void {
    this.held++;
    this.#clients.set(client, (this.#clients.get(client) ?? 0) + 1);
    if (collection !== undefined) this.#collections.set(collection, (this.#collections.get(collection) ?? 0) + 1);
  }

  #refusal(reason: string) {
    this.refusedAt = Date.now();
    return fail('SERVICE_UNAVAILABLE', `${reason} Try again later.`, { service: 'database', retryAfter: RETRY_AFTER });
  }

  /** Under load most statements wait, though not for long: they cost no timer and no listener of their own. */
  #wait(share: Share, signal: SignalSource | undefined): Promise<void> {
    const { limit, label } = this.#options;
    const name = `${share.client}\n${share.collection ?? ''}`;
    const group = this.#groups.get(name) ?? { share, waiters: new Set() };
    if (this.waiting >= limit * MAX_WAITERS_PER_SLOT || group.waiters.size >= (limit * MAX_WAITERS_PER_SLOT) / 2)
      throw this.#refusal(`All ${label} are in use, and too many requests wait for one.`);
    if (group.waiters.size === 0) this.#groups.set(name, group);
    this.waiting++;
    this.#sweepTimer ??= setInterval(() => this.#sweep(), SWEEP_INTERVAL).unref();
    return new Promise((resolve, reject) => group.waiters.add({ since: performance.now(), signal, resolve, reject }));
  }

  #remove(name: string, { waiters }: WaiterGroup, waiter: Waiter): void {
    waiters.delete(waiter);
    if (waiters.size === 0) this.#groups.delete(name);
    this.waiting--;
  }

  /** Refuses those that waited long enough, and forgets those whose client left. */
  #sweep(): void {
    const { deadline, label } = this.#options;
    if (this.waiting === 0) {
      clearInterval(this.#sweepTimer);
      this.#sweepTimer = undefined;
    }
    const now = performance.now();
    for (const [name, group] of this.#groups) {
      for (const waiter of group.waiters) {
        const gone = resolveSignal(waiter.signal);
        if (!gone?.aborted && now - waiter.since < deadline) continue;
        this.#remove(name, group, waiter);
        const late = `All ${label} that this request may use were in use for ${deadline} ms.`;
        waiter.reject(gone?.aborted ? gone.reason : this.#refusal(late));
      }
    }
  }

  #wakeWaiters(): void {
    // A group that was admitted comes again at the end.
    for (const [name, group] of this.#groups) {
      if (this.held >= this.#options.limit) return;
      const [next] = group.waiters;
      if (!next || !this.#fits(group.share)) continue;
      this.#count(group.share);
      this.#remove(name, group, next);
      // Whose turn it was is the last the next time; this loop comes to it again where there is a place still.
      if (this.#groups.delete(name)) this.#groups.set(name, group);
      next.resolve();
    }
  }
}

function decrement(counts: Map<string, number>, name: string): void {
  const count = (counts.get(name) as number) - 1;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
}
