import { type EventsApi, fail } from '#kernel';
import type { TransactionOptions } from '../../database/contract.ts';
import type { Deps } from '../deps.ts';
import { createInner, type Inner } from './inner.ts';
import { Refusal } from './refusal.ts';
import { isAlike } from './refused-row.ts';

/** Answers of event filters in the order in which a unit of work asked. */
export class FilterRecord {
  readonly #answers: Promise<unknown>[] = [];

  /** Keeps the answers. */
  recording(events: EventsApi): EventsApi {
    return {
      ...events,
      filter: (names, payload, meta) => {
        const answer = events.filter(names, payload, meta);
        this.#answers.push(answer);
        return answer;
      },
    };
  }

  /** Gives the same answers again: no listener runs. */
  replaying(events: EventsApi): EventsApi {
    const answers = this.#answers.values();
    return {
      ...events,
      filter: <T>(_names: readonly string[], payload: T) =>
        (answers.next().value ?? Promise.resolve(payload)) as Promise<T>,
      action: () => {},
    };
  }
}

const KINDS = ['22', '23', 'P0001'];

/** A value that no hash is made for: its length is that of a hash. */
const HASH = `$argon2id$v=19$m=65536,t=3,p=4$${'x'.repeat(22)}$${'x'.repeat(43)}`;

/**
 * The failure with the row it is about. A unit of work whose statement for several rows was refused is made once more, and
 * rolled back: in it the statement is cut in halves. Listeners are not asked again, and nothing is hashed. Where the unit takes longer
 * than is left of its time, or is refused for another reason, the failure stays as it was.
 */
export async function withRow(
  deps: Deps,
  error: unknown,
  filters: FilterRecord,
  options: TransactionOptions,
  work: (inner: Inner) => Promise<unknown>,
): Promise<unknown> {
  if (!(error instanceof Refusal) || error.isPlaced) return error;
  const { complaint, action } = error.statement;
  if (action === 'delete' || action === undefined || !KINDS.some((kind) => complaint.code.startsWith(kind)))
    return error;
  const inner = createInner({
    ...deps,
    events: filters.replaying(deps.events),
    hash: async () => HASH,
    isReplay: true,
  });
  try {
    await deps.db.transaction(async () => {
      await work(inner);
      throw fail('INTERNAL_SERVER_ERROR', 'the write is not refused any more');
    }, options);
  } catch (again) {
    if (again instanceof Refusal && again.isPlaced && isAlike(again, error)) return again;
  }
  return error;
}
