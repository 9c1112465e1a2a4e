import { fail } from '#kernel';
import { type AbortSignalOrFactory, resolveSignal } from './cancel.ts';
import type { PoolShareHolder } from './contract.ts';

/** A semaphore whose slots are shared fairly between collections and clients (ADR 32). */
export interface PoolSlotSemaphore {
  /**
   * Takes a slot: undefined where one is free, else a promise.
   * @throws SERVICE_UNAVAILABLE where too many requests wait already
   */
  acquire(share: PoolShareHolder, signal: AbortSignalOrFactory | undefined): Promise<void> | undefined;
  /** Gives a slot back. */
  release(share: PoolShareHolder): void;
  readonly held: number;
  readonly waiting: number;
  /** Milliseconds for which the oldest waiter has waited; 0 without a waiter. */
  longestWait(): number;
  /** Milliseconds since the epoch of the last refusal; 0 without one. */
  readonly refusedAt: number;
  /** Refusals so far. */
  readonly refusals: number;
}

export interface PoolSlotSemaphoreOptions {
  readonly limit: number;
  /** Milliseconds that a request waits at most. */
  readonly deadline: number;
  /** What the slots are, for messages: `connections of the pool (10)`. */
  readonly label: string;
}

/** The share of statements without a plugin: migrations, and the full query builder. */
export const SERVICE_POOL_SHARE: PoolShareHolder = { collection: undefined, client: 'service', rank: 'service' };

/** A collection gets another slot while it holds fewer than this many times the free slots, less one. */
const COLLECTION_FACTOR = 4;
/**
 * A client gets another slot while it holds fewer than this many times the free slots. The factor is larger than that of a
 * collection, so that a client whose statements of one collection hang still gets a slot for another one.
 */
const CLIENT_FACTOR = 9;
/** Maximum waiters for each slot; one share may have half of them. */
const MAX_WAITERS_PER_SLOT = 100;
/** Milliseconds between two checks of the waiters. */
const SWEEP_INTERVAL = 50;
/** Seconds: the value of `Retry-After`. */
const RETRY_AFTER = 1;

interface Waiter {
  /** `performance.now()` when the request began to wait. */
  readonly since: number;
  readonly signal: AbortSignalOrFactory | undefined;
  resolve(): void;
  reject(error: unknown): void;
}

/** Waiters of the same share, oldest first. */
interface WaiterGroup {
  readonly share: PoolShareHolder;
  readonly waiters: Set<Waiter>;
}

export const createPoolSlotSemaphore = (options: PoolSlotSemaphoreOptions): PoolSlotSemaphore =>
  new PoolSemaphore(options);

/**
 * A collection may hold four times as many slots as are free, a client some more than one collection, and both leave at
 * least one. So the first collection gets most slots, while hanging statements block neither other collections, nor
 * other clients, nor requests of the same client for other collections. One slot in ten is reserved for admins and for
 * the service's own statements, such as those of a login. With one or two slots there are no shares.
 */
class PoolSemaphore implements PoolSlotSemaphore {
  readonly #options: PoolSlotSemaphoreOptions;
  readonly #collections = new Map<string, number>();
  readonly #clients = new Map<string, number>();
  readonly #groups = new Map<string, WaiterGroup>();
  /** Slots for the rank `service` only. */
  readonly #reserved: number;
  /** Slots that a share leaves free once it holds one. */
  readonly #spare: number;
  held = 0;
  waiting = 0;
  refusedAt = 0;
  refusals = 0;
  #sweepTimer: NodeJS.Timeout | undefined;

  constructor(options: PoolSlotSemaphoreOptions) {
    const { limit } = options;
    this.#options = options;
    this.#reserved = limit < 4 ? 0 : Math.max(1, Math.floor(limit / 10));
    this.#spare = limit < 3 ? 0 : 1;
  }

  acquire(share: PoolShareHolder, signal: AbortSignalOrFactory | undefined): Promise<void> | undefined {
    if (!this.#fits(share)) return this.#wait(share, signal);
    this.#count(share);
    return undefined;
  }

  release({ collection, client }: PoolShareHolder): void {
    this.held--;
    decrement(this.#clients, client);
    if (collection !== undefined) decrement(this.#collections, collection);
    if (this.waiting > 0) this.#wakeWaiters();
  }

  longestWait(): number {
    const first = Math.min(...[...this.#groups.values()].flatMap(({ waiters: [next] }) => next?.since ?? []));
    return Number.isFinite(first) ? performance.now() - first : 0;
  }

  #fits({ collection, client, rank }: PoolShareHolder): boolean {
    const { limit } = this.#options;
    const free = limit - this.held - (rank === 'request' ? this.#reserved : 0);
    if (free <= 0) return false;
    const ofClient = this.#clients.get(client) ?? 0;
    const ofCollection = collection === undefined ? 0 : (this.#collections.get(collection) ?? 0);
    const isFirst = ofClient === 0 && ofCollection === 0;
    // The last free slot also goes to a client that holds few slots, for a collection that holds few.
    const isNew = Math.min(ofClient, ofCollection) === 0 && Math.max(ofClient, ofCollection) < limit / 3;
    const isBelowLimits = ofCollection < COLLECTION_FACTOR * (free - this.#spare) && ofClient < CLIENT_FACTOR * free;
    return isFirst || isNew || (isBelowLimits && free > this.#spare);
  }

  #count({ collection, client }: PoolShareHolder): void {
    this.held++;
    this.#clients.set(client, (this.#clients.get(client) ?? 0) + 1);
    if (collection !== undefined) this.#collections.set(collection, (this.#collections.get(collection) ?? 0) + 1);
  }

  #refusal(reason: string) {
    this.refusedAt = Date.now();
    this.refusals++;
    return fail('SERVICE_UNAVAILABLE', `${reason} Try again later.`, { service: 'database', retryAfter: RETRY_AFTER });
  }

  /**
   * Under load most statements wait for a short time, so waiters share one timer and add no listener to their signal.
   */
  #wait(share: PoolShareHolder, signal: AbortSignalOrFactory | undefined): Promise<void> {
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

  /** Refuses waiters after the deadline, and removes waiters whose client has disconnected. */
  #sweep(): void {
    const { deadline, label } = this.#options;
    if (this.waiting === 0) {
      clearInterval(this.#sweepTimer);
      this.#sweepTimer = undefined;
    }
    const now = performance.now();
    for (const [name, group] of this.#groups) {
      for (const waiter of group.waiters) {
        const signal = resolveSignal(waiter.signal);
        if (!signal?.aborted && now - waiter.since < deadline) continue;
        this.#remove(name, group, waiter);
        const reason = `All ${label} that this request may use were in use for ${deadline} ms.`;
        waiter.reject(signal?.aborted ? signal.reason : this.#refusal(reason));
      }
    }
  }

  #wakeWaiters(): void {
    for (const [name, group] of this.#groups) {
      if (this.held >= this.#options.limit) return;
      const [next] = group.waiters;
      if (!next || !this.#fits(group.share)) continue;
      this.#count(group.share);
      this.#remove(name, group, next);
      // The group moves to the end. A Map iterates over it again in this loop, while slots are free.
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
