import { type ActionHandler, type EventMeta, type FilterHandler, fail, requestScope } from '#kernel';
import { GuestFailure } from '../sandbox/library.ts';
import type { Schema } from '../schema/contract.ts';
import { statedFailure } from './reject.ts';
import { type Rows, RowsRefused, rowsOf } from './rows.ts';
import { type Running, run, unavailable } from './running.ts';

/** Bytes as JSON (conventions, "Hook limits"). */
const LONGEST_PAYLOAD = 1024 * 1024;
const LONGEST_META = 256 * 1024;

/** The overview says which parts of a row a stranger must not see. */
type Overviews = Pick<Schema, 'overview'>;

/**
 * A filter by a confined handler. It runs inside of the unit of work that it may stop, and so does what it asks of its
 * host. No answer leaves the payload as it is; a failure blocks what was about to happen, with what the author states by
 * `reject`, or one sentence for all others.
 */
export const confinedFilter =
  (running: () => Running, schema: Overviews): FilterHandler =>
  async (payload, meta) => {
    const one = running();
    const rows = rowsOf(meta, await schema.overview());
    const before = rows ? plain(payload) : payload;
    try {
      const { text, value } = await run(one, {
        activation: { type: 'event-filter', event: meta.event },
        caller: meta.caller,
        input: `{"payload":${bounded(rows ? rows.shown(before) : before, LONGEST_PAYLOAD)},"meta":${metaOf(meta)}}`,
        signal: requestScope.getStore()?.signal,
      });
      if (text === undefined) return undefined;
      return rows ? rows.taken(value, before) : value;
    } catch (error) {
      throw filterFailure(error, one, meta.event);
    }
  };

function filterFailure(error: unknown, one: Running, event: string): unknown {
  const { guest, failures, admitted, contribution } = one;
  let why: string;
  if (error instanceof RowsRefused) {
    why = `it may not change ${error.message}`;
    admitted.denied(`${event}: may not change ${error.message}`);
    failures.record({ code: 'change-refused', message: `The filter may not change ${error.message}.` }, event);
  } else if (error instanceof GuestFailure) {
    const stated = statedFailure(error, failures, event);
    if (stated) return stated;
    if (error.code === 'busy' || guest.state() === 'parked') return unavailable('A hook of this event');
    why = error.code;
  } else return error;
  return fail(
    'INTERNAL_SERVER_ERROR',
    `the hook "${contribution.id}" of ${admitted.subject.name} failed at ${event} (${why})`,
  );
}

/** An action by a confined handler. A failure is a warning in the log, which the events write. */
export const confinedAction =
  (running: () => Running, schema: Overviews): ActionHandler =>
  async (meta) => {
    const rows = rowsOf(meta, await schema.overview());
    const one = running();
    try {
      await run(one, {
        activation: { type: 'event-action', event: meta.event },
        caller: meta.caller,
        input: `{"meta":${metaOf(meta, rows)}}`,
      });
    } catch (error) {
      if (error instanceof GuestFailure && error.code !== 'busy') one.failures.record(error, meta.event);
      throw error;
    }
  };

/** Without the caller, of whom the context tells what a stranger may know. */
function metaOf({ caller: _caller, ...meta }: EventMeta, rows?: Rows): string {
  return bounded(
    rows && 'payload' in meta ? { ...meta, payload: rows.shown(plain(meta.payload)) } : meta,
    LONGEST_META,
  );
}

/** As it is after a way through JSON. */
const plain = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(bounded(value, LONGEST_PAYLOAD));

const UNFIT = { message: 'The payload or the data of the event is no JSON, or larger than a confined hook is handed.' };

function bounded(value: unknown, limit: number): string {
  let text: string;
  try {
    text = JSON.stringify(value) ?? 'null';
  } catch {
    throw new GuestFailure('internal', { thrown: UNFIT });
  }
  if (Buffer.byteLength(text) > limit) throw new GuestFailure('internal', { thrown: UNFIT });
  return text;
}
