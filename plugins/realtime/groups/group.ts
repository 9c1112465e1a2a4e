import type { Caller } from '#kernel';
import type { KeyedRowText, ReadResultText } from '../../query/contract.ts';
import type { ChangeBatch, OldRowNeed, RowChange } from '../changes/change-batch.ts';
import type { DeliveredRow, RowEvent } from '../contract.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import { type ChangeDelivery, toChangeDeliveries } from './change-deliveries.ts';
import type { GroupPlan } from './group-plan.ts';
import type { Question } from './question.ts';

/** Milliseconds of a read from which on the group reads in the lane of slow ones. */
const SLOW_READ = 500;

/** The rows of one batch for all subscriptions of a group, by event. */
export interface GroupAnswer extends Readonly<Record<RowEvent, readonly DeliveredRow[]>> {
  /** Those of the created rows that were updated as well. */
  readonly createdAndUpdated: readonly DeliveredRow[];
}

/** A read that has not begun yet, and the subscription for whose caller it is made, which `moves` says is still in the group. */
export interface WaitingRead {
  readonly reading: Promise<ReadResultText | undefined>;
  readonly reader: Subscription;
  readonly moves: number;
}

/** Subscriptions with equal rights and an equal question: each change is read once for all of them. */
export class Group {
  readonly key: string;
  readonly question: Question;
  readonly plan: GroupPlan;
  /** Whom reads are for; one of the callers, who are alike for the plan. */
  readonly caller: Caller;
  readonly members = new Set<Subscription>();
  /** The index in the log up to which changes were read. */
  cursor: number;
  isRunning = false;
  /** When the last read began, in milliseconds of `performance.now()`. */
  readAt = Number.NEGATIVE_INFINITY;
  isSlow = false;
  /** Reads of the current rows that have not begun yet, by their queries: more subscriptions may share them. */
  readonly waitingInits = new Map<string, WaitingRead>();

  constructor(key: string, parts: { question: Question; plan: GroupPlan; caller: Caller; cursor: number }) {
    this.key = key;
    this.question = parts.question;
    this.plan = parts.plan;
    this.caller = parts.caller;
    this.cursor = parts.cursor;
  }

  /** Whose slots the reads take. */
  get holder(): string {
    return this.caller.user ?? this.caller.share ?? 'public';
  }

  /** Rows that leave are found by their state before an update. */
  get oldRows(): OldRowNeed {
    return this.question.leaving ? 'required' : 'optional';
  }

  get lane(): 'slow' | 'changes' {
    return this.isSlow ? 'slow' : 'changes';
  }

  /** Reads the rows of a batch as the members may see them. @throws what the statements throw */
  async read(batch: NonNullable<ChangeBatch>, members: Iterable<Subscription>): Promise<GroupAnswer> {
    const started = performance.now();
    const requested = requestedRows(batch, [...members], this.plan.hasPlainKey, this.question.leaving);
    const [onlyCreated, createdAndUpdated, update] = [
      await this.#rowsOf(requested.filter(({ event, isUpdatedToo }) => event === 'create' && !isUpdatedToo)),
      await this.#rowsOf(requested.filter(({ isUpdatedToo }) => isUpdatedToo)),
      await this.#rowsOf(requested.filter(({ event }) => event === 'update')),
    ];
    const create = [...onlyCreated, ...createdAndUpdated];
    const present = new Set([...create, ...update].map(({ key }) => key));
    const gone = this.plan.judgesOldRows ? requested.flatMap((one) => this.#oldRow(one) ?? []) : [];
    const keys = gone.length === 0 ? [] : await this.plan.readOldKeys(this.caller, gone);
    this.isSlow = performance.now() - started > SLOW_READ;
    const deleted = keys.map((json) => ({ key: keyTextOf(json), json, text: undefined }));
    // A row that is still there for the members has not left them.
    return {
      delete: this.question.leaving ? deleted.filter(({ key }) => !present.has(key)) : deleted,
      create,
      createdAndUpdated,
      update,
    };
  }

  /** A row that members knew and that is gone, or may be gone for them: the one before the batch is what they knew last. */
  #oldRow({ event, deleted, before }: RowChange): string | undefined {
    if (!this.question.leaving) return deleted;
    return event === 'create' && deleted === undefined ? undefined : (before ?? deleted);
  }

  async #rowsOf(changes: readonly RowChange[]): Promise<readonly DeliveredRow[]> {
    const keys = changes.map(({ key }) => key);
    return keys.length === 0 ? [] : (await this.plan.readRows(this.caller, keys)).map(toDeliveredRow);
  }
}

/** The changes that at least one member wants to know: by its event and, where keys have one text only, by its item. */
function requestedRows(
  batch: NonNullable<ChangeBatch>,
  members: readonly Subscription[],
  hasPlainKey: boolean,
  leaving: boolean,
): readonly RowChange[] {
  const events = new Set(members.map(({ event }) => event));
  const isRequested = (one: RowChange) =>
    events.has(undefined) ||
    (one.event !== undefined && events.has(one.event)) ||
    (one.isUpdatedToo && events.has('update')) ||
    (events.has('delete') && (one.deleted !== undefined || (leaving && one.before !== undefined)));
  if (!hasPlainKey || members.some(({ item }) => item === undefined)) return [...batch.values()].filter(isRequested);
  const items = new Set(members.map(({ item }) => item as string));
  return [...items].flatMap((item) => batch.get(item) ?? []).filter(isRequested);
}

/** The text of a key of which `json` is the JSON. */
const keyTextOf = (json: string): string => (json.startsWith('"') ? (JSON.parse(json) as string) : json);

const toDeliveredRow = ({ key: json, row }: KeyedRowText): DeliveredRow => ({ key: keyTextOf(json), json, text: row });

/** Deliveries of one answer, created once for all members that get the same. */
export class AnswerDeliveries {
  readonly #answer: GroupAnswer;
  readonly #positions: { readonly before: string; readonly after: string };
  readonly #deliveries = new Map<string, readonly ChangeDelivery[]>();

  /** The positions are those before the batch and after it. */
  constructor(answer: GroupAnswer, positions: { readonly before: string; readonly after: string }) {
    this.#answer = answer;
    this.#positions = positions;
  }

  /** In the order delete, create, update. Empty where nothing is for the subscription. */
  for({ event, item }: Pick<Subscription, 'event' | 'item'>): readonly ChangeDelivery[] {
    const key = `${event ?? ''} ${item ?? ''}`;
    let known = this.#deliveries.get(key);
    if (!known) {
      const events = event ? [event] : (['delete', 'create', 'update'] as const);
      const parts = events.flatMap((one) => {
        const rows = this.#rowsOf(one, event).filter((row) => item === undefined || row.key === item);
        return rows.length === 0 ? [] : [{ event: one, rows }];
      });
      known = toChangeDeliveries(parts, this.#positions);
      this.#deliveries.set(key, known);
    }
    return known;
  }

  #rowsOf(event: RowEvent, only: RowEvent | undefined): readonly DeliveredRow[] {
    const { createdAndUpdated, [event]: rows } = this.#answer;
    return only === 'update' ? [...createdAndUpdated, ...rows] : rows;
  }
}
