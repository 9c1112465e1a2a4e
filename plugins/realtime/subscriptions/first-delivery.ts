import { setTimeout as pause } from 'node:timers/promises';
import { Failure, fail } from '#kernel';
import type { ItemsEngine } from '../../items/contract.ts';
import type { ReadResultText } from '../../query/contract.ts';
import { mergeChanges } from '../changes/change-batch.ts';
import type { ChangeLog } from '../changes/change-log.ts';
import type { Delivery } from '../contract.ts';
import { AnswerDeliveries, type WaitingRead } from '../groups/group.ts';
import type { ReadSlots } from '../groups/read-slots.ts';
import type { EngineMetrics } from '../metrics.ts';
import { readList } from '../read-list.ts';
import type { SubscribedCollection } from './subscribed-collection.ts';
import type { Subscription } from './subscription.ts';

interface Deps {
  readonly log: ChangeLog;
  readonly slots: ReadSlots;
  readonly items: Pick<ItemsEngine, 'stream' | 'readOne'>;
  readonly metrics: EngineMetrics;
  /** Puts subscriptions whose rights have changed into other groups. Resolves at once where nothing has changed. */
  place(collection: SubscribedCollection): Promise<void>;
}

type Beginning = Exclude<Delivery, { kind: 'change' }>;

const RETRY_AFTER = 1000;
/** A place before the beginning of every log. */
const NOWHERE = -1;

/** What is read for one subscription alone: its beginning, what it missed, and everything anew after a gap. */
export class FirstDeliveries {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Delivers `init`, or what followed `since`. @throws what the read throws, FORBIDDEN where the caller loses the right meanwhile */
  async begin(subscription: Subscription, collection: SubscribedCollection): Promise<void> {
    const { since } = subscription.request;
    subscription.ownReads++;
    try {
      await this.#deliver(subscription, collection, async () => {
        if (since === undefined) return [await this.#readBeginning(subscription, collection, 'init')];
        const at = this.#deps.log.indexOf(since);
        const missed = at === undefined ? undefined : await this.#readMissed(subscription, collection, at + 1);
        if (!missed) return [await this.#readBeginning(subscription, collection, 'resync')];
        return [{ kind: 'init', data: undefined, meta: null, position: since }, ...missed];
      });
    } finally {
      subscription.ownReads--;
    }
  }

  /** Delivers what the subscription has not got yet, or `resync` where that is not known. Repeats while the database is away. */
  async catchUp(subscription: Subscription, collection: SubscribedCollection): Promise<void> {
    // The read that is under way notices that the subscription was moved, and reads again up to now.
    if (subscription.isHeld && subscription.ownReads > 0) return;
    const from = subscription.cursor;
    await this.#repeat(subscription, collection, async () => {
      const missed = await this.#readMissed(subscription, collection, from);
      return missed ?? [await this.#readBeginning(subscription, collection, 'resync')];
    });
  }

  /** Delivers `resync`. Repeats while the database is away. */
  resync(subscription: Subscription, collection: SubscribedCollection): Promise<void> {
    return this.#repeat(subscription, collection, async () => [
      await this.#readBeginning(subscription, collection, 'resync'),
    ]);
  }

  async #repeat(
    subscription: Subscription,
    collection: SubscribedCollection,
    read: () => Promise<readonly Delivery[]>,
  ): Promise<void> {
    subscription.ownReads++;
    try {
      while (!subscription.hasEnded) {
        if (subscription.isDenied) {
          // It reads again when its caller may read.
          subscription.cursor = NOWHERE;
          return;
        }
        try {
          return await this.#deliver(subscription, collection, read);
        } catch (error) {
          const isFinal = error instanceof Failure && error.code !== 'SERVICE_UNAVAILABLE';
          if (isFinal && error.code !== 'FORBIDDEN') return subscription.fail(error);
          if (!subscription.isDenied) await pause(RETRY_AFTER, undefined, { ref: false });
        }
      }
    } finally {
      subscription.ownReads--;
    }
  }

  /**
   * Delivers what `read` answers. The read may wait long for its turn, so the rights are compared afterwards: where they have changed it is
   * made again. @throws what `read` throws, FORBIDDEN where the caller may read nothing of the collection now
   */
  async #deliver(
    subscription: Subscription,
    collection: SubscribedCollection,
    read: () => Promise<readonly Delivery[]>,
  ): Promise<void> {
    for (;;) {
      const { moves } = subscription;
      const deliveries = await read();
      await this.#deps.place(collection);
      if (subscription.isDenied) throw fail('FORBIDDEN', `no read permission on ${collection.name}`);
      if (subscription.moves !== moves) continue;
      if (deliveries[0]?.kind === 'resync') this.#deps.metrics.resyncs++;
      subscription.begin(deliveries);
      return;
    }
  }

  /** Changes from now on follow what is read now. Answers the position of this moment. */
  #startRead(subscription: Subscription): string {
    const { log } = this.#deps;
    subscription.hold();
    subscription.cursor = log.end;
    return log.positionAt(log.end);
  }

  async #readBeginning(
    subscription: Subscription,
    collection: SubscribedCollection,
    kind: Beginning['kind'],
  ): Promise<Beginning> {
    const position = this.#startRead(subscription);
    if (!subscription.request.init) return { kind, data: undefined, meta: null, position };
    const answer = await this.#readInit(subscription, collection).catch((error: unknown) => {
      const isGone = kind === 'resync' && subscription.item !== undefined && isFailure(error, 'FORBIDDEN');
      if (isGone) return { data: 'null', meta: null };
      throw error;
    });
    if (!answer) throw fail('SERVICE_UNAVAILABLE', 'too many subscriptions begin at this moment');
    return { kind, data: answer.data ?? 'null', meta: answer.meta, position };
  }

  /** Undefined where not all changes from `from` on are known by row. */
  async #readMissed(
    subscription: Subscription,
    { relations }: SubscribedCollection,
    from: number,
  ): Promise<readonly Delivery[] | undefined> {
    const { log, slots, metrics } = this.#deps;
    const [before, after] = [log.positionAt(from), this.#startRead(subscription)];
    const changes = log.since(relations, from);
    const batch = changes && mergeChanges(changes, subscription.group.oldRows);
    if (!batch) return undefined;
    if (batch.size === 0) return [];
    const { group } = subscription;
    metrics.reads++;
    const answer = await slots.run('init', group.holder, () => group.read(batch, [subscription]));
    return answer && new AnswerDeliveries(answer, { before, after }).for(subscription);
  }

  /** Subscriptions that come while an equal read waits for its turn share it: it begins after all of them. */
  async #readInit(subscription: Subscription, subscribed: SubscribedCollection): Promise<ReadResultText | undefined> {
    const { group, request, client, item, moves } = subscription;
    const { collection, query = {} } = request;
    const text = JSON.stringify([item, query]);
    const shared = group.waitingInits.get(text);
    if (shared) return (await this.#shareRead(shared, subscribed)) ?? this.#readInit(subscription, subscribed);
    let hasBegun = false;
    const reading = this.#deps.slots.run('init', group.holder, async () => {
      hasBegun = true;
      group.waitingInits.delete(text);
      const { items } = this.#deps;
      const caller = await client.caller();
      return item === undefined
        ? readList(items, caller, collection, query)
        : items.readOne(caller, collection, item, query);
    });
    if (!hasBegun) {
      group.waitingInits.set(text, { reading, reader: subscription, moves });
      // Where too many reads wait it never begins.
      const forget = () => {
        if (group.waitingInits.get(text)?.reading === reading) group.waitingInits.delete(text);
      };
      reading.then(forget, forget);
    }
    return reading;
  }

  /**
   * The answer of another subscription of the group; undefined where its read is of no use: it failed for its own client, or by now that
   * one has left the group, and so may have had other rights than the group when the rows were read.
   * @throws SERVICE_UNAVAILABLE
   */
  async #shareRead(
    { reading, reader, moves }: WaitingRead,
    collection: SubscribedCollection,
  ): Promise<ReadResultText | undefined> {
    const answer = await reading.catch((error: unknown) => {
      if (isFailure(error, 'SERVICE_UNAVAILABLE')) throw error;
      return undefined;
    });
    await this.#deps.place(collection);
    return reader.hasEnded || reader.moves !== moves ? undefined : answer;
  }
}

const isFailure = (error: unknown, code: Failure['code']): boolean => error instanceof Failure && error.code === code;
