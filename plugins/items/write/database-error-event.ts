import { type Caller, type EventsApi, errorEnvelope } from '#kernel';
import { toCustomFailure } from '../../http/library.ts';

/**
 * Runs the filter `database.error` for a write that the database refused: its listeners receive the error as it would be sent, and may
 * answer another one (conventions, "Other filter events").
 */
export async function filterDatabaseError(
  events: Pick<EventsApi, 'filter' | 'hasListeners'>,
  caller: Caller,
  failure: unknown,
): Promise<unknown> {
  if (!events.hasListeners('filter', 'database.error')) return failure;
  const { status, body } = errorEnvelope(failure, caller);
  const [error] = body.errors as readonly unknown[];
  const answer = await events.filter(['database.error'], error, { caller, client: 'pg' });
  return answer === error ? failure : toCustomFailure(answer, status);
}
