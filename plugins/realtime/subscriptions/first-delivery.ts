import { setTimeout as pause } from 'node:timers/promises';
import { Failure, fail } from '#kernel';
import type { ItemsEngine } from '../../items/contract.ts';
import type { ReadResultText } from '../../query/contract.ts';
import { mergeChanges } from '../changes/change-batch.ts';
import type { ChangeLog } from '../changes/change-log.ts';
import type { Delivery } from '../contract.ts';
import { AnswerDeliveries } from '../groups/group.ts';
import type { ReadSlots } from '../groups/read-slots.ts';
import type { EngineMetrics } from '../metrics.ts';
import { readList } from '../read-list.ts';
import type { SubscribedCollection } from './subscribed-collection.ts';
import type { Subscription } from './subscription.ts';

interface Deps {
  readonly log: ChangeLog;
  readonly slots: ReadSlots;
  readonly items: Pick<ItemsEngine, 'stream'>;
  readonly metrics: EngineMetrics;
}

const RETRY_AFTER = 1000;
/** A place before the beginning of every log. */
const NOWHERE = -1;

/** What is read for one subscription alone: its beginning, what it missed, and everything anew after a gap. */
export class FirstDeliveries {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Delivers `init`, or what followed `since`. @throws what the read throws */
  async begin(subscription: Subscription, collection: SubscribedCollection): Promise<void> {
    const { since, init } = subscription.request;
    const { lastId: position } = this.#deps.log;
    if (since === undefined) {
      const { data, meta } = init ? await this.#readInit(subscription) : { data: undefined, meta: null };
      subscription.begin([{ kind: 'init', data, meta, position }]);
      return;
    }
    const at = this.#deps.log.indexOf(since);
    const missed = at === undefined ? undefined : await this.#readMissed(subscription, collection, at + 1);
    if (missed) subscription.begin([{ kind: 'init', data: undefined, meta: null, position: since }, ...missed]);
    else await this.#readAgain(subscription);
  }

  /** Delivers what the subscription has not got yet, or `resync` where that is not known. Repeats while the database is away. */
  async catchUp(subscription: Subscription, collection: SubscribedCollection): Promise<void> {
    subscription.hold();
    const from = subscription.cursor;
    subscription.cursor = this.#deps.log.end;
    await this.#repeat(subscription, async () => {
      const missed = await this.#readMissed(subscription, collection, from);
      if (missed) subscription.begin(missed);
      else await this.#readAgain(subscription);
    });
  }

  /** Delivers `resync`. Repeats while the database is away. */
  resync(subscription: Subscription): Promise<void> {
    return this.#repeat(subscription, () => this.#readAgain(subscription));
  }

  async #repeat(subscription: Subscription, work: () => Promise<void>): Promise<void> {
    while (!subscription.hasEnded) {
      if (subscription.isDenied) {
        // It reads again when its caller may read.
        subscription.cursor = NOWHERE;
        return;
      }
      try {
        return await work();
      } catch (error) {
        const isFinal = error instanceof Failure && error.code !== 'SERVICE_UNAVAILABLE';
        if (isFinal && error.code !== 'FORBIDDEN') return subscription.fail(error);
        await pause(RETRY_AFTER, undefined, { ref: false });
      }
    }
  }

  async #readAgain(subscription: Subscription): Promise<void> {
    subscription.hold();
    subscription.cursor = this.#deps.log.end;
    const { lastId: position } = this.#deps.log;
    const { data, meta } = subscription.request.init
      ? await this.#readInit(subscription)
      : { data: undefined, meta: null };
    this.#deps.metrics.resyncs++;
    subscription.begin([{ kind: 'resync', data, meta, position }]);
  }

  /** Undefined where not all changes from `from` on are known by row. */
  async #readMissed(
    subscription: Subscription,
    { relations }: SubscribedCollection,
    from: number,
  ): Promise<readonly Delivery[] | undefined> {
    const { log, slots, metrics } = this.#deps;
    const { lastId: position } = log;
    const changes = log.since(relations, from);
    const batch = changes && mergeChanges(changes);
    if (!batch) return undefined;
    if (batch.size === 0) return [];
    const { group } = subscription;
    metrics.reads++;
    const answer = await slots.run('init', group.holder, () => group.read(batch, [subscription]));
    return answer && new AnswerDeliveries(answer, position).for(subscription);
  }

  async #readInit(subscription: Subscription): Promise<{ data: string | undefined; meta: string | null }> {
    const { group, request, client } = subscription;
    const caller = await client.caller();
    const text = JSON.stringify(request.query ?? {});
    let reading = group.waitingInits.get(text);
    if (!reading) {
      let hasBegun = false;
      reading = this.#deps.slots.run('init', group.holder, () => {
        hasBegun = true;
        group.waitingInits.delete(text);
        return readList(this.#deps.items, caller, request.collection, request.query ?? {});
      });
      // Subscriptions that come while this read waits for its turn share it: it begins after all of them.
      if (!hasBegun) group.waitingInits.set(text, reading);
    }
    const answer: ReadResultText | undefined = await reading;
    if (!answer) throw fail('SERVICE_UNAVAILABLE', 'too many subscriptions begin at this moment');
    return { data: answer.data ?? 'null', meta: answer.meta };
  }
}
