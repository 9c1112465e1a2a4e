import { type Caller, Failure, fail, type Log } from '#kernel';
import type { ConnectedClient } from '../clients/client.ts';
import type { RightsVersion } from '../clients/rights-version.ts';
import type { GroupPlans } from '../groups/plans.ts';
import { logUnexpectedError } from '../library.ts';
import type { SubscribedCollection } from './subscribed-collection.ts';
import type { Subscription } from './subscription.ts';

interface Deps {
  readonly plans: GroupPlans;
  readonly rights: RightsVersion;
  readonly log: Log;
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
    const caller = await this.#currentCaller(subscription);
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
      if (isUnavailable(error)) throw error;
      logUnexpectedError(this.#deps.log, error, 'the rights of a subscription could not be determined');
      const failure = toFailure(error);
      // A token may have expired for the moment that its renewal takes, so the subscription stays, and gets nothing.
      if (failure.code !== 'FORBIDDEN') return subscription.fail(failure);
      subscription.placedAt = version;
      subscription.placedFor = caller;
      subscription.isDenied = true;
      collection.deny(subscription);
    }
  }

  /**
   * Undefined where the client's credentials no longer hold or cannot be checked: this client is dropped, and all others keep their
   * deliveries. @throws SERVICE_UNAVAILABLE
   */
  async #currentCaller({ client }: Subscription): Promise<Caller | undefined> {
    try {
      return client.knownCaller ?? (await callerOrPublic(client));
    } catch (error) {
      // A database that is away concerns all clients; a listener concerns those alone whom it names.
      if (isUnavailable(error) && !client.isNamedByListeners) throw error;
      logUnexpectedError(this.#deps.log, error, 'the credentials of a subscriber could not be checked');
      client.drop(toFailure(error));
      return undefined;
    }
  }
}

/** A client that authenticated anew is another caller. */
const isStale = ({ client, placedAt, placedFor }: Subscription, version: number): boolean =>
  placedAt !== version || client.knownCaller !== placedFor;

/** An expired token leaves the public. */
const callerOrPublic = (client: ConnectedClient): Promise<Caller> =>
  client.caller().catch((error) => {
    if (error instanceof Failure && error.code === 'TOKEN_EXPIRED') return client.caller();
    throw error;
  });

const isUnavailable = (error: unknown): boolean => error instanceof Failure && error.code === 'SERVICE_UNAVAILABLE';

/** An unexpected error, of a listener for example, tells clients nothing. */
const toFailure = (error: unknown): Failure =>
  error instanceof Failure ? error : fail('INTERNAL_SERVER_ERROR', 'the rights of a subscription are not known');
