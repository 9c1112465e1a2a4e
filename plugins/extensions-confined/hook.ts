import { type ActionHandler, type EventMeta, type FilterHandler, fail, requestScope } from '#kernel';
import { GuestFailure } from '../sandbox/library.ts';
import type { Schema } from '../schema/contract.ts';
import { type Rows, RowsRefused, rowsOf } from './rows.ts';
import { type Running, run, unavailable } from './running.ts';

/** Bytes as JSON (conventions, "Hook limits"). */
const LONGEST_PAYLOAD = 1024 * 1024;
const LONGEST_META = 256 * 1024;

/** The overview says which parts of a row a stranger must not see. */
type Overviews = Pick<Schema, 'overview'>;

/**
 * A filter by a confined handler. It runs inside of the unit of work that it may stop, and so does what it asks of its
 * host. No answer leaves the payload as it is; a failure blocks what was about to happen, with one sentence for all.
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
      const isRefused = error instanceof RowsRefused;
      if (isRefused) one.admitted.denied(`${meta.event}: may not change ${error.message}`);
      if (!isRefused && !(error instanceof GuestFailure)) throw error;
      const { name } = one.admitted.subject;
      if (!isRefused && (error.code === 'busy' || one.guest.state() === 'parked'))
        throw unavailable('A hook of this event');
      const why = isRefused ? `it may not change ${error.message}` : error.code;
      throw fail(
        'INTERNAL_SERVER_ERROR',
        `the hook "${one.contribution.id}" of ${name} failed at ${meta.event} (${why})`,
      );
    }
  };

/** An action by a confined handler. A failure is a warning in the log, which the events write. */
export const confinedAction =
  (running: () => Running, schema: Overviews): ActionHandler =>
  async (meta) => {
    const rows = rowsOf(meta, await schema.overview());
    await run(running(), {
      activation: { type: 'event-action', event: meta.event },
      caller: meta.caller,
      input: `{"meta":${metaOf(meta, rows)}}`,
    });
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
