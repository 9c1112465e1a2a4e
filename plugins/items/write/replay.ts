import { type EventsApi, fail } from '#kernel';
import type { TransactionOptions } from '../../database/contract.ts';
import type { Deps } from '../deps.ts';
import { createLevelWrites, type LevelWrites } from './level-writes.ts';
import { hasSameCause } from './refused-row.ts';
import { StatementRefusal } from './statement-refusal.ts';

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

const LOCATABLE_CODES = ['22', '23', 'P0001'];

/** A value that no hash is made for: its length is that of a hash. */
const PLACEHOLDER_HASH = `$argon2id$v=19$m=65536,t=3,p=4$${'x'.repeat(22)}$${'x'.repeat(43)}`;

/**
 * The failure with the row it is about. A unit of work whose statement for several rows was refused is made once more, and
 * rolled back: in it the statement is cut in halves. Listeners are not asked again, and nothing is hashed. Where the unit takes longer
 * than is left of its time, or is refused for another reason, the failure stays as it was.
 */
export async function locateRefusedRow(
  deps: Deps,
  error: unknown,
  filters: FilterRecord,
  options: TransactionOptions,
  work: (levelWrites: LevelWrites) => Promise<unknown>,
): Promise<unknown> {
  if (!(error instanceof StatementRefusal) || error.isLocated) return error;
  const { error: databaseError, action } = error.statement;
  if (
    action === 'delete' ||
    action === undefined ||
    !LOCATABLE_CODES.some((code) => databaseError.code.startsWith(code))
  )
    return error;
  const levelWrites = createLevelWrites({
    ...deps,
    events: filters.replaying(deps.events),
    hash: async () => PLACEHOLDER_HASH,
    isReplay: true,
  });
  try {
    await deps.db.transaction(async () => {
      await work(levelWrites);
      throw fail('INTERNAL_SERVER_ERROR', 'the write is not refused any more');
    }, options);
  } catch (replayError) {
    if (replayError instanceof StatementRefusal && replayError.isLocated && hasSameCause(replayError, error))
      return replayError;
  }
  return error;
}
