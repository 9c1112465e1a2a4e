import { type ActionHandler, type EventMeta, type FilterHandler, fail, requestScope } from '#kernel';
import { GuestFailure } from '../../sandbox/contract.ts';
import { type Running, run } from './running.ts';

/** Bytes as JSON (conventions, "Hook limits"). */
const LONGEST_PAYLOAD = 1024 * 1024;
const LONGEST_META = 256 * 1024;

/**
 * A filter by a confined handler. It runs inside of the unit of work that it may stop, and so does what it asks of its
 * host. No answer leaves the payload as it is; a failure blocks what was about to happen, with one sentence for all.
 */
export const confinedFilter =
  (running: () => Running): FilterHandler =>
  async (payload, meta) => {
    const one = running();
    try {
      const { text, value } = await run(one, {
        activation: { type: 'event-filter', event: meta.event },
        caller: meta.caller,
        input: `{"payload":${bounded(payload, LONGEST_PAYLOAD)},"meta":${metaOf(meta)}}`,
        signal: requestScope.getStore()?.signal,
      });
      return text === undefined ? undefined : value;
    } catch (error) {
      if (!(error instanceof GuestFailure)) throw error;
      const { name } = one.admitted.subject;
      throw fail(
        'INTERNAL_SERVER_ERROR',
        `the hook "${one.contribution.id}" of ${name} failed at ${meta.event} (${error.code})`,
      );
    }
  };

/** An action by a confined handler. A failure is a warning in the log, which the events write. */
export const confinedAction =
  (running: () => Running): ActionHandler =>
  async (meta) => {
    await run(running(), {
      activation: { type: 'event-action', event: meta.event },
      caller: meta.caller,
      input: `{"meta":${metaOf(meta)}}`,
    });
  };

/** Without the caller, of whom the context tells what a stranger may know. */
function metaOf({ caller: _caller, ...meta }: EventMeta): string {
  return bounded(meta, LONGEST_META);
}

function bounded(value: unknown, limit: number): string {
  let text: string;
  try {
    text = JSON.stringify(value) ?? 'null';
  } catch {
    throw new GuestFailure('internal');
  }
  if (Buffer.byteLength(text) > limit) throw new GuestFailure('internal');
  return text;
}
