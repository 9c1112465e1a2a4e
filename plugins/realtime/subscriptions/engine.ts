import { type Failure, fail, type Log } from '#kernel';
import type { ItemsEngine } from '../../items/contract.ts';
import { parsePrimaryKeyValue } from '../../query/library.ts';
import type { AnnouncedChange, RowFeed } from '../../row-feed/contract.ts';
import type { Collection, Field } from '../../schema/contract.ts';
import { ChangeLog } from '../changes/change-log.ts';
import type { ConnectedClient } from '../clients/client.ts';
import type { RightsVersion } from '../clients/rights-version.ts';
import type { RealtimeSubscription, SubscriptionRequest } from '../contract.ts';
import { GroupRunner } from '../groups/group-runner.ts';
import { GroupPlans, type PlansDeps } from '../groups/plans.ts';
import { parseQuestion } from '../groups/question.ts';
import { ReadSlots } from '../groups/read-slots.ts';
import { EngineMetrics } from '../metrics.ts';
import { FirstDeliveries } from './first-delivery.ts';
import { Placement } from './placement.ts';
import { createPositions, type Positions } from './positions.ts';
import type { SubscribedCollection } from './subscribed-collection.ts';
import { Subscription } from './subscription.ts';
import { WatchedCollections } from './watched-collections.ts';

interface Deps extends PlansDeps {
  readonly items: Pick<ItemsEngine, 'stream' | 'readOne' | 'checkQuery' | 'readKeys' | 'select'>;
  readonly rowFeed: RowFeed;
  readonly rights: RightsVersion;
  readonly log: Log;
  readonly historySize: number;
}

const RETRY_AFTER = 500;
/** Milliseconds after a command that changes the schema: most come in groups. */
const RENEW_AFTER = 100;

/** Subscriptions of all clients of this process, and their deliveries. */
export class SubscriptionEngine {
  readonly metrics = new EngineMetrics();
  readonly #deps: Deps;
  readonly #changes: ChangeLog;
  readonly #collections: WatchedCollections;
  readonly #plans: GroupPlans;
  readonly #placement: Placement;
  readonly #runner: GroupRunner;
  readonly #first: FirstDeliveries;
  readonly #positions: Positions;
  #renewal: NodeJS.Timeout | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
    const changes = new ChangeLog(deps.historySize);
    const slots = new ReadSlots();
    const { metrics } = this;
    this.#changes = changes;
    this.#collections = new WatchedCollections(deps);
    this.#plans = new GroupPlans(deps);
    const place = (collection: SubscribedCollection) => this.#placement.place(collection);
    this.#first = new FirstDeliveries({ log: changes, slots, items: deps.items, metrics, place });
    this.#placement = new Placement({
      plans: this.#plans,
      rights: deps.rights,
      log: deps.log,
      onMoved: (collection) => this.#schedule(collection),
      catchUp: (one, collection) => void this.#first.catchUp(one, collection),
    });
    this.#runner = new GroupRunner({
      ...{ log: deps.log, changes, slots, metrics, place },
      resync: (one, collection) => void this.#first.resync(one, collection),
    });
    this.#positions = createPositions(changes, deps.rowFeed);
  }

  get counts(): { readonly subscriptions: number; readonly groups: number } {
    const all = [...this.#collections.all];
    return {
      subscriptions: all.reduce((sum, one) => sum + one.subscriptions.size, 0),
      groups: all.reduce((sum, one) => sum + one.groups.size, 0),
    };
  }

  start(): Promise<void> {
    return this.#deps.rowFeed.listen({
      onChange: (change) => this.#receive(change),
      onGap: () => this.#renewAfterGap(),
    });
  }

  /** See `RealtimeClient.subscribe`. */
  async subscribe(client: ConnectedClient, request: SubscriptionRequest): Promise<RealtimeSubscription> {
    const question = parseQuestion(request);
    const placedAt = this.#deps.rights.current();
    const caller = await client.caller();
    const place = await this.#plans.placeOf(question, caller);
    if (request.query) await this.#deps.items.checkQuery(caller, request.collection, request.query);
    const item = parseItem(place.plan.collection, request.item);
    const collection = await this.#collections.open(place.plan.collection, question.leaving);
    await this.#positions.known();
    if (client.isClosed) throw fail('SERVICE_UNAVAILABLE', 'the client has left');
    const cursor = this.#changes.end;
    const subscription = new Subscription({
      ...{ client, request, question, item, cursor, placedAt, placedFor: caller },
      group: collection.groupOf(place, question, caller, cursor),
      onEnd: (ended) => this.#remove(ended, collection),
      onOverflow: (slow) => this.#overflow(slow, collection),
      onDelivery: () => this.metrics.deliveries++,
    });
    collection.add(subscription);
    client.subscriptions.add(subscription);
    try {
      await this.#first.begin(subscription, collection);
    } catch (error) {
      subscription.end();
      throw error;
    }
    return subscription;
  }

  /**
   * A command has changed tables or triggers: triggers may be gone, partitions may be new, and rows of before cannot be read with the
   * columns of now. Several commands are looked at together.
   */
  schemaChanged(): void {
    if (this.#renewal) return;
    this.#renewal = setTimeout(() => {
      this.#renewal = undefined;
      for (const one of this.#collections.all) void this.#renew(one, false);
    }, RENEW_AFTER).unref();
  }

  #receive(change: AnnouncedChange): void {
    this.#changes.add(change);
    if (change.event === 'mark') {
      this.#positions.arrived();
      return;
    }
    this.metrics.changes++;
    const collection = this.#collections.ofRelation(change.relation);
    if (collection) this.#schedule(collection);
  }

  /** Changes that arrive at once are read together. */
  #schedule(collection: SubscribedCollection): void {
    if (collection.isPlacing) {
      collection.isDueAgain = true;
      return;
    }
    collection.isPlacing = true;
    setImmediate(() => void this.#tick(collection));
  }

  async #tick(collection: SubscribedCollection): Promise<void> {
    collection.isDueAgain = false;
    try {
      await this.#placement.place(collection);
    } catch {
      // Without a database nothing can be judged or read.
      setTimeout(() => this.#schedule(collection), RETRY_AFTER).unref();
      return;
    } finally {
      collection.isPlacing = false;
    }
    for (const group of [...collection.groups.values()]) this.#runner.start(group, collection);
    if (collection.isDueAgain) this.#schedule(collection);
  }

  /** Changes may have been missed: watches all tables again, and lets all subscriptions read again. */
  #renewAfterGap(): void {
    this.#changes.clear();
    for (const one of this.#collections.all) void this.#renew(one, true);
  }

  async #renew(subscribed: SubscribedCollection, hasMissed: boolean): Promise<void> {
    const schema = await this.#deps.schema.snapshot().catch(() => undefined);
    const collection = schema?.collections.get(subscribed.name);
    if (schema && !collection) return this.#endAll(subscribed, fail('FORBIDDEN', `${subscribed.name} is gone`));
    const result = collection ? await this.#collections.renew(subscribed, collection) : 'failed';
    if (result === 'failed') {
      setTimeout(() => void this.#renew(subscribed, true), RETRY_AFTER).unref();
      return;
    }
    if (!hasMissed && result === 'unchanged') return;
    for (const group of subscribed.groups.values()) group.cursor = this.#changes.end;
    for (const one of [...subscribed.subscriptions]) void this.#first.resync(one, subscribed);
  }

  #endAll({ subscriptions }: SubscribedCollection, failure: Failure): void {
    for (const one of [...subscriptions]) one.fail(failure);
  }

  #remove(subscription: Subscription, collection: SubscribedCollection): void {
    collection.remove(subscription);
    this.#collections.close(collection);
  }

  /** A slow client reads again once it is ready. */
  #overflow(subscription: Subscription, collection: SubscribedCollection): void {
    if (subscription.client.isReady) void this.#first.resync(subscription, collection);
  }
}

/** The key as the service writes it. @throws FORBIDDEN for what cannot be the key of a row */
function parseItem({ key }: Collection, item: string | undefined): string | undefined {
  if (item === undefined) return undefined;
  const parsed = parsePrimaryKeyValue(key as Field, item);
  if (parsed === undefined) throw fail('FORBIDDEN', `${item.slice(0, 60)} is no key`);
  return String(parsed);
}
