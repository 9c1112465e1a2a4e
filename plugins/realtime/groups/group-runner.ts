import { setTimeout as pause } from 'node:timers/promises';
import { Failure, fail, type Log } from '#kernel';
import type { ChangeLog, LoggedChange } from '../changes/change-log.ts';
import type { EngineMetrics } from '../metrics.ts';
import type { SubscribedCollection } from '../subscriptions/subscribed-collection.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import { AnswerDeliveries, type Group } from './group.ts';
import type { ReadSlots } from './read-slots.ts';

interface Deps {
  readonly log: Log;
  readonly changes: ChangeLog;
  readonly slots: ReadSlots;
  readonly metrics: EngineMetrics;
  /** Puts subscriptions whose rights have changed into other groups. Resolves at once where nothing has changed. */
  place(collection: SubscribedCollection): Promise<void>;
  resync(subscription: Subscription, collection: SubscribedCollection): void;
}

/** Milliseconds from one read of a group to the next. A table that is written all the time is read this often, for all writes in between. */
const READ_SPACING = 10;
const RETRY_AFTER = 500;
/** Attempts to read one batch, apart from those that find no database. */
const MAX_FAILURES = 5;

/** Reads changes for groups: one read of a group at a time, in which all changes that came meanwhile are merged. */
export class GroupRunner {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  start(group: Group, collection: SubscribedCollection): void {
    if (!group.isRunning) void this.#run(group, collection);
  }

  async #run(group: Group, collection: SubscribedCollection): Promise<void> {
    group.isRunning = true;
    let failures = 0;
    while (group.members.size > 0 && group.cursor < this.#deps.changes.end) {
      const wait = group.readAt + READ_SPACING - performance.now();
      if (wait > 0) await pause(wait, undefined, { ref: false });
      const from = group.cursor;
      try {
        await this.#readOnce(group, collection);
        failures = 0;
      } catch (error) {
        const isAway = error instanceof Failure && error.code === 'SERVICE_UNAVAILABLE';
        if (!isAway && ++failures === MAX_FAILURES) {
          this.#giveUp(group, error);
          break;
        }
        await pause(RETRY_AFTER, undefined, { ref: false });
        // The same changes again; a gap in between makes it a resync.
        group.cursor = from;
        await this.#deps.place(collection).catch(() => {});
      }
    }
    group.isRunning = false;
  }

  async #readOnce(group: Group, collection: SubscribedCollection): Promise<void> {
    const { changes: log, slots, metrics, place } = this.#deps;
    const from = group.cursor;
    const [to, position] = [log.end, log.lastId];
    const changes = log.since(collection.relations, from);
    group.cursor = to;
    if (changes?.length === 0) {
      for (const member of group.members) member.cursor = Math.max(member.cursor, to);
      return;
    }
    const batch = changes && collection.merge(changes, from, to, group.oldRows);
    if (!batch) return this.#resyncAll(group, collection, to);
    metrics.reads++;
    group.readAt = performance.now();
    const answer = await slots.run(group.lane, group.holder, () => group.read(batch, group.members));
    if (!answer) return this.#resyncAll(group, collection, to);
    // A right that was taken away while the rows were read: its subscription is in another group afterwards.
    await place(collection);
    const deliveries = new AnswerDeliveries(answer, { before: log.positionAt(from), after: position });
    for (const member of group.members) {
      if (member.cursor >= to) continue;
      member.cursor = to;
      member.offer(deliveries.for(member));
    }
    metrics.recordLag(performance.now() - (changes[0] as LoggedChange).at);
  }

  #resyncAll(group: Group, collection: SubscribedCollection, to: number): void {
    for (const member of [...group.members]) if (member.cursor < to) this.#deps.resync(member, collection);
  }

  #giveUp(group: Group, error: unknown): void {
    this.#deps.log.error({ err: error }, 'changed rows could not be read for a subscription');
    const failure = error instanceof Failure ? error : fail('INTERNAL_SERVER_ERROR', 'changed rows could not be read');
    for (const member of [...group.members]) member.fail(failure);
  }
}
