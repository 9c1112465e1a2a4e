import { type EventsApi, fail } from '#kernel';
import type { TransactionOptions } from '../../database/contract.ts';
import type { ItemsEngineDeps } from '../deps.ts';
import { createLevelWrites, type LevelWrites } from './level-writes.ts';
import { StatementRefusal } from './statement-refusal.ts';
import { hasSameRefusalCause } from './write-rows-locating-refusal.ts';

/** Results of event filters in the order of the calls in a unit of work. */
export class EventFilterRecorder {
  readonly #answers: Promise<unknown>[] = [];

  /** Wraps the events so that the results of their filters are recorded. */
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

  /** Wraps the events so that filters return the recorded results without calling listeners. */
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

/** Stored in place of a hash during a replay; it has the length of a hash. */
const PLACEHOLDER_HASH = `$argon2id$v=19$m=65536,t=3,p=4$${'x'.repeat(22)}$${'x'.repeat(43)}`;

/**
 * Adds the rejected row to a failure. A unit of work whose statement for several rows was rejected runs again and is
 * rolled back; in it the statement is bisected. Listeners are not called again and nothing is hashed. The failure stays
 * unchanged where the replay exceeds the remaining time or fails for another reason.
 */
export async function locateRefusedRow(
  deps: ItemsEngineDeps,
  error: unknown,
  filters: EventFilterRecorder,
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
      throw fail('INTERNAL_SERVER_ERROR', 'the replayed write was not rejected');
    }, options);
  } catch (replayError) {
    if (replayError instanceof StatementRefusal && replayError.isLocated && hasSameRefusalCause(replayError, error))
      return replayError;
  }
  return error;
}
