import { type Caller, Failure } from '#kernel';
import type { RightsVersion } from '../clients/rights-version.ts';
import type { GroupPlans } from '../groups/plans.ts';
import type { SubscribedCollection } from './subscribed-collection.ts';
import type { Subscription } from './subscription.ts';

interface Deps {
  readonly plans: GroupPlans;
  readonly rights: RightsVersion;
  /** A subscription is in another group, which may have to read. */
  onMoved(collection: SubscribedCollection): void;
  /** Delivers what a subscription has missed. */
  catchUp(subscription: Subscription, collection: SubscribedCollection): void;
}

/** Puts subscriptions into the groups that fit the rights which their callers have now. */
export class Placement {
  readonly #deps: Deps;
  readonly #running = new Map<SubscribedCollection, Promise<void>>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Resolves when all subscriptions are in place. Runs no statement where nothing was announced. @throws SERVICE_UNAVAILABLE */
  async place(collection: SubscribedCollection): Promise<void> {
    await this.#running.get(collection)?.catch(() => {});
    const version = this.#deps.rights.current();
    const stale = [...collection.subscriptions].filter((one) => isStale(one, version));
    if (stale.length === 0) return;
    const running = this.#placeAll(stale, collection).finally(() => this.#running.delete(collection));
    this.#running.set(collection, running);
    await running;
  }

  async #placeAll(stale: readonly Subscription[], collection: SubscribedCollection): Promise<void> {
    for (const one of stale) await this.#placeOne(one, collection);
  }

  async #placeOne(subscription: Subscription, collection: SubscribedCollection): Promise<void> {
    const version = this.#deps.rights.current();
    const caller = await currentCaller(subscription);
    if (!caller || subscription.hasEnded) return;
    try {
      const place = await this.#deps.plans.placeOf(subscription.question, caller);
      if (subscription.hasEnded) return;
      subscription.placedAt = version;
      subscription.placedFor = caller;
      if (place.key === subscription.group.key && !subscription.isDenied) return;
      subscription.isDenied = false;
      const group = collection.groupOf(place, subscription.question, caller, subscription.cursor);
      collection.move(subscription, group);
      this.#deps.onMoved(collection);
      if (group.cursor > subscription.cursor) this.#deps.catchUp(subscription, collection);
    } catch (error) {
      if (!(error instanceof Failure) || error.code === 'SERVICE_UNAVAILABLE') throw error;
      // A token may have expired for the moment that its renewal takes, so the subscription stays, and gets nothing.
      if (error.code !== 'FORBIDDEN') return subscription.fail(error);
      subscription.placedAt = version;
      subscription.placedFor = caller;
      subscription.isDenied = true;
      collection.deny(subscription);
    }
  }
}

/** A client that authenticated anew is another caller. */
const isStale = ({ client, placedAt, placedFor }: Subscription, version: number): boolean =>
  placedAt !== version || client.knownCaller !== placedFor;

/** Undefined where the client's credentials no longer hold: it is dropped. @throws SERVICE_UNAVAILABLE */
async function currentCaller({ client }: Subscription): Promise<Caller | undefined> {
  try {
    return client.knownCaller ?? (await client.caller());
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'SERVICE_UNAVAILABLE') throw error;
    // An expired token leaves the public; any other refusal ends the client.
    if (error.code === 'TOKEN_EXPIRED') return client.caller();
    client.drop(error);
    return undefined;
  }
}
