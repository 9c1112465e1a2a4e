import { fail } from '#kernel';
import { type Signal, signalOf } from './cancel.ts';
import type { Share } from './contract.ts';

/** Places that are asked for again and again, shared fairly (ADR 32). */
export interface Places {
  /** Takes a place: undefined where there was one, else a promise of it. @throws SERVICE_UNAVAILABLE where too many wait already */
  enter(share: Share, signal: Signal | undefined): Promise<void> | undefined;
  /** Gives the place back. */
  leave(share: Share): void;
  readonly held: number;
  readonly waiting: number;
  /** Milliseconds that the longest wait of the moment has taken; 0 where none waits. */
  longestWait(): number;
  /** Milliseconds since the epoch at which a request was last refused a place; 0 where none was. */
  readonly refusedAt: number;
}

export interface PlacesOptions {
  readonly limit: number;
  /** Milliseconds that a request waits at most. */
  readonly deadline: number;
  /** What there are too few of, for the message of a refusal. */
  readonly called: string;
}

/** Of statements for which no plugin is known: migrations, and the query builder. */
export const SERVICE_SHARE: Share = { collection: undefined, client: 'service', rank: 'service' };

/** A collection that holds places may have more while it has fewer than this many times those that are left, but for one. */
const OF_COLLECTION = 4;
/** The same for a client, whose statements of one collection then leave it some for another. */
const OF_CLIENT = 9;
/** Requests that may wait, for each place; those of one group may be half of them. */
const QUEUE = 100;
/** Milliseconds between looks at those that wait. */
const SWEEP = 50;
/** Seconds after which a refused client may try again. */
const RETRY_AFTER = 1;

interface Waiter {
  /** Milliseconds of the clock of `performance`. */
  readonly since: number;
  readonly signal: Signal | undefined;
  enter(): void;
  refuse(error: unknown): void;
}

/** Waiters of the same share, in the order in which they came. */
interface Group {
  readonly share: Share;
  readonly waiters: Set<Waiter>;
}

/**
 * A collection may hold four times as many places as it leaves free, a client a few more than one collection, and both leave one at
 * least: the first to come gets most of them, and a statement that hangs keeps out neither other collections nor other clients, nor
 * what its own client asks of other collections. One place in ten is for admins and the service's own statements, such as those of a
 * login. A pool of one or two has nothing to share.
 */
export function createPlaces({ limit, deadline, called }: PlacesOptions): Places {
  const collections = new Map<string, number>();
  const clients = new Map<string, number>();
  const groups = new Map<string, Group>();
  const queue = limit * QUEUE;
  const kept = limit < 4 ? 0 : Math.max(1, Math.floor(limit / 10));
  const spare = limit < 3 ? 0 : 1;
  let held = 0;
  let waiting = 0;
  let refusedAt = 0;
  let sweeping: NodeJS.Timeout | undefined;

  const fits = ({ collection, client, rank }: Share): boolean => {
    const free = limit - held - (rank === 'request' ? kept : 0);
    if (free <= 0) return false;
    const ofClient = clients.get(client) ?? 0;
    const ofCollection = collection === undefined ? 0 : (collections.get(collection) ?? 0);
    const isFirst = ofClient === 0 && ofCollection === 0;
    // The last one is also for a client of whose statements few hang, in another collection.
    const isNew = Math.min(ofClient, ofCollection) === 0 && Math.max(ofClient, ofCollection) < limit / 3;
    const isWithin = ofCollection < OF_COLLECTION * (free - spare) && ofClient < OF_CLIENT * free;
    return isFirst || isNew || (isWithin && free > spare);
  };

  const take = ({ collection, client }: Share): void => {
    held++;
    clients.set(client, (clients.get(client) ?? 0) + 1);
    if (collection !== undefined) collections.set(collection, (collections.get(collection) ?? 0) + 1);
  };

  const refusal = (reason: string) => {
    refusedAt = Date.now();
    return fail('SERVICE_UNAVAILABLE', `${reason} Try again later.`, { service: 'database', retryAfter: RETRY_AFTER });
  };

  /** Under load most statements wait, though not for long: they cost no timer and no listener of their own. */
  function wait(share: Share, signal: Signal | undefined): Promise<void> {
    const name = `${share.client}\n${share.collection ?? ''}`;
    const group = groups.get(name) ?? { share, waiters: new Set() };
    if (waiting >= queue || group.waiters.size >= queue / 2)
      throw refusal(`All ${called} are in use, and too many requests wait for one.`);
    if (group.waiters.size === 0) groups.set(name, group);
    waiting++;
    sweeping ??= setInterval(sweep, SWEEP).unref();
    return new Promise((enter, refuse) => group.waiters.add({ since: performance.now(), signal, enter, refuse }));
  }

  function remove(name: string, { waiters }: Group, waiter: Waiter): void {
    waiters.delete(waiter);
    if (waiters.size === 0) groups.delete(name);
    waiting--;
  }

  /** Refuses those that waited long enough, and forgets those whose client left. */
  function sweep(): void {
    if (waiting === 0) {
      clearInterval(sweeping);
      sweeping = undefined;
    }
    const now = performance.now();
    for (const [name, group] of groups) {
      for (const waiter of group.waiters) {
        const gone = signalOf(waiter.signal);
        const isLate = now - waiter.since >= deadline;
        if (!gone?.aborted && !isLate) continue;
        remove(name, group, waiter);
        waiter.refuse(
          gone?.aborted
            ? gone.reason
            : refusal(`All ${called} that this request may use were in use for ${deadline} ms.`),
        );
      }
    }
  }

  function admit(): void {
    for (const [name, group] of groups) {
      if (held >= limit) return;
      if (!fits(group.share)) continue;
      const [next] = group.waiters;
      if (!next) continue;
      take(group.share);
      remove(name, group, next);
      // Whose turn it was is the last the next time; this loop comes to it again where there is a place still.
      if (groups.delete(name)) groups.set(name, group);
      next.enter();
    }
  }

  return {
    enter(share, signal) {
      if (!fits(share)) return wait(share, signal);
      take(share);
      return undefined;
    },
    leave({ collection, client }) {
      held--;
      lower(clients, client);
      if (collection !== undefined) lower(collections, collection);
      if (waiting > 0) admit();
    },
    get held() {
      return held;
    },
    get waiting() {
      return waiting;
    },
    longestWait() {
      const first = Math.min(...[...groups.values()].flatMap(({ waiters: [next] }) => next?.since ?? []));
      return Number.isFinite(first) ? performance.now() - first : 0;
    },
    get refusedAt() {
      return refusedAt;
    },
  };
}

function lower(counts: Map<string, number>, name: string): void {
  const count = (counts.get(name) as number) - 1;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
}
