import type { Caller } from '#kernel';
import type { Collection } from '../../schema/contract.ts';
import { type ChangeBatch, mergeChanges, type OldRowNeed } from '../changes/change-batch.ts';
import type { LoggedChange } from '../changes/change-log.ts';
import { Group } from '../groups/group.ts';
import type { GroupPlace } from '../groups/plans.ts';
import type { Question } from '../groups/question.ts';
import type { Subscription } from './subscription.ts';

/** A collection with the subscriptions to it, and the groups that they are in. */
export class SubscribedCollection {
  readonly name: string;
  /** The quoted name of the table. */
  readonly table: string;
  readonly subscriptions = new Set<Subscription>();
  readonly groups = new Map<string, Group>();
  /** Oids of the table and its partitions. */
  relations: readonly number[] = [];
  /** Names the triggers of the table. */
  triggers = '';
  /** The columns that the announced rows have; another value means that the table has changed. */
  columns = '';
  /** Whether rows before an update are announced. */
  withOldRows = false;
  isPlacing = false;
  isDueAgain = false;
  readonly #merged = new Map<OldRowNeed, { from: number; to: number; batch: ChangeBatch }>();

  constructor(name: string, table: string) {
    this.name = name;
    this.table = table;
  }

  /** The group of a place; a new one has read the log up to `cursor`. */
  groupOf({ key, plan }: GroupPlace, question: Question, caller: Caller, cursor: number): Group {
    let group = this.groups.get(key);
    if (!group) {
      group = new Group(key, { question, plan, caller, cursor });
      this.groups.set(key, group);
    }
    return group;
  }

  add(subscription: Subscription): void {
    this.subscriptions.add(subscription);
    subscription.group.members.add(subscription);
  }

  remove(subscription: Subscription): void {
    this.subscriptions.delete(subscription);
    this.#leaveGroup(subscription);
  }

  move(subscription: Subscription, to: Group): void {
    this.#leaveGroup(subscription);
    subscription.group = to;
    to.members.add(subscription);
  }

  /** Takes a subscription out of its group. */
  deny(subscription: Subscription): void {
    this.#leaveGroup(subscription);
  }

  /** The changes of a span of the log by row. Most groups ask for the same span, so it is merged once. */
  merge(changes: readonly LoggedChange[], from: number, to: number, oldRows: OldRowNeed): ChangeBatch {
    const known = this.#merged.get(oldRows);
    if (known?.from === from && known.to === to) return known.batch;
    const batch = mergeChanges(changes, oldRows);
    this.#merged.set(oldRows, { from, to, batch });
    return batch;
  }

  #leaveGroup(subscription: Subscription): void {
    const { group } = subscription;
    subscription.moves++;
    group.members.delete(subscription);
    if (group.members.size === 0 && this.groups.get(group.key) === group) this.groups.delete(group.key);
  }
}

/** The columns of a table as a text. */
export const columnsOf = ({ fields }: Collection): string =>
  JSON.stringify([...fields.values()].map(({ column }) => [column?.name, column?.sqlType]));
