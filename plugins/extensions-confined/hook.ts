import { type ActionHandler, type EventMeta, type FilterHandler, fail, requestScope } from '#kernel';
import { GuestFailure } from '../sandbox/library.ts';
import type { Schema } from '../schema/contract.ts';
import { createEventRows, type EventRows, RowChangeRefused } from './event-rows.ts';
import { toStatedFailure } from './reject.ts';
import { createUnavailable, type RunningContribution, runHandler } from './run-handler.ts';

/** Bytes as JSON (conventions, "Hook limits"). */
const MAX_PAYLOAD = 1024 * 1024;
const MAX_META = 256 * 1024;

/** The overview says which parts of a row a stranger must not see. */
type SchemaReader = Pick<Schema, 'overview'>;

/**
 * A filter by a confined handler. It runs inside of the unit of work that it may stop, and so does what it asks of its
 * host. No answer leaves the payload as it is; a failure blocks what was about to happen, with what the author states by
 * `reject`, or one sentence for all others.
 */
export const createConfinedFilter =
  (running: () => RunningContribution, schema: SchemaReader): FilterHandler =>
  async (payload, meta) => {
    const one = running();
    const rows = createEventRows(meta, await schema.overview());
    const before = rows ? toPlainJson(payload) : payload;
    try {
      const { text, value } = await runHandler(one, {
        activation: { type: 'event-filter', event: meta.event },
        caller: meta.caller,
        input: `{"payload":${toBoundedJson(rows ? rows.mask(before) : before, MAX_PAYLOAD)},"meta":${renderMeta(meta)}}`,
        signal: requestScope.getStore()?.signal,
      });
      if (text === undefined) return undefined;
      return rows ? rows.applyAnswer(value, before) : value;
    } catch (error) {
      throw toFilterFailure(error, one, meta.event);
    }
  };

function toFilterFailure(error: unknown, one: RunningContribution, event: string): unknown {
  const { guest, failures, admitted, contribution } = one;
  let why: string;
  if (error instanceof RowChangeRefused) {
    why = `it may not change ${error.message}`;
    admitted.denied(`${event}: may not change ${error.message}`);
    failures.record({ code: 'change-refused', message: `The filter may not change ${error.message}.` }, event);
  } else if (error instanceof GuestFailure) {
    const stated = toStatedFailure(error, failures, event);
    if (stated) return stated;
    if (error.code === 'busy' || guest.state() === 'parked') return createUnavailable('A hook of this event');
    why = error.code;
  } else return error;
  return fail(
    'INTERNAL_SERVER_ERROR',
    `the hook "${contribution.id}" of ${admitted.subject.name} failed at ${event} (${why})`,
  );
}

/** An action by a confined handler. A failure is a warning in the log, which the events write. */
export const createConfinedAction =
  (running: () => RunningContribution, schema: SchemaReader): ActionHandler =>
  async (meta) => {
    const rows = createEventRows(meta, await schema.overview());
    const one = running();
    try {
      await runHandler(one, {
        activation: { type: 'event-action', event: meta.event },
        caller: meta.caller,
        input: `{"meta":${renderMeta(meta, rows)}}`,
      });
    } catch (error) {
      if (error instanceof GuestFailure && error.code !== 'busy') one.failures.record(error, meta.event);
      throw error;
    }
  };

/** Without the caller, of whom the context tells what a stranger may know. */
function renderMeta({ caller: _caller, ...meta }: EventMeta, rows?: EventRows): string {
  return toBoundedJson(
    rows && 'payload' in meta ? { ...meta, payload: rows.mask(toPlainJson(meta.payload)) } : meta,
    MAX_META,
  );
}

/** As it is after a way through JSON. */
const toPlainJson = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(toBoundedJson(value, MAX_PAYLOAD));

const INVALID_EVENT = {
  message: 'The payload or the data of the event is no JSON, or larger than a confined hook is handed.',
};

function toBoundedJson(value: unknown, limit: number): string {
  let text: string;
  try {
    text = JSON.stringify(value) ?? 'null';
  } catch {
    throw new GuestFailure('internal', { thrown: INVALID_EVENT });
  }
  if (Buffer.byteLength(text) > limit) throw new GuestFailure('internal', { thrown: INVALID_EVENT });
  return text;
}
