import { type ActionHandler, type EventMeta, type FilterHandler, fail, requestScope } from '#kernel';
import { GuestFailure } from '../sandbox/library.ts';
import type { SchemaService } from '../schema/contract.ts';
import { toAuthorRejectionOrRecord } from './author-rejection.ts';
import { type ConfinedEventRowView, createConfinedEventRowView, RowChangeRefused } from './event-rows.ts';
import { createUnavailable, type LoadedContribution, runConfinedHandler } from './run-handler.ts';

/** Maximum bytes of an event's payload and of its other data, as JSON (conventions, "Hook limits"). */
const MAX_PAYLOAD = 1024 * 1024;
const MAX_META = 256 * 1024;

/** The schema snapshot marks the fields that third-party code must not see. */
type SchemaReader = Pick<SchemaService, 'snapshot'>;

/**
 * A filter listener that calls a confined handler. The handler and its calls of the host run inside of the unit of
 * work. `undefined` keeps the payload; a failure rejects the write with the status of the author's `reject`, or with
 * one fixed sentence.
 */
export const createConfinedFilterListener =
  (running: () => LoadedContribution, schema: SchemaReader): FilterHandler =>
  async (payload, meta) => {
    const one = running();
    const rows = createConfinedEventRowView(meta, await schema.snapshot());
    const before = rows ? toPlainJson(payload) : payload;
    try {
      const { text, value } = await runConfinedHandler(one, {
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

function toFilterFailure(error: unknown, one: LoadedContribution, event: string): unknown {
  const { guest, failures, brokerAccess, contribution } = one;
  let cause: string;
  if (error instanceof RowChangeRefused) {
    cause = `it may not change ${error.message}`;
    brokerAccess.recordDenial(`${event}: may not change ${error.message}`);
    failures.record({ code: 'change-refused', message: `The filter may not change ${error.message}.` }, event);
  } else if (error instanceof GuestFailure) {
    const stated = toAuthorRejectionOrRecord(error, failures, event);
    if (stated) return stated;
    if (error.code === 'busy' || guest.state() === 'parked') return createUnavailable('A hook of this event');
    cause = error.code;
  } else return error;
  return fail(
    'INTERNAL_SERVER_ERROR',
    `the hook "${contribution.id}" of ${brokerAccess.holder.name} failed at ${event} (${cause})`,
  );
}

/** An action listener that calls a confined handler. The kernel logs a failure as a warning. */
export const createConfinedActionListener =
  (running: () => LoadedContribution, schema: SchemaReader): ActionHandler =>
  async (meta) => {
    const rows = createConfinedEventRowView(meta, await schema.snapshot());
    const one = running();
    try {
      await runConfinedHandler(one, {
        activation: { type: 'event-action', event: meta.event },
        caller: meta.caller,
        input: `{"meta":${renderMeta(meta, rows)}}`,
      });
    } catch (error) {
      if (error instanceof GuestFailure && error.code !== 'busy') one.failures.record(error, meta.event);
      throw error;
    }
  };

/**
 * Renders the event's data without the caller; the handler's context has what third-party code may know about the
 * caller.
 */
function renderMeta({ caller: _caller, ...meta }: EventMeta, rows?: ConfinedEventRowView): string {
  return toBoundedJson(
    rows && 'payload' in meta ? { ...meta, payload: rows.mask(toPlainJson(meta.payload)) } : meta,
    MAX_META,
  );
}

/** Converts a value to plain JSON and back. */
const toPlainJson = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(toBoundedJson(value, MAX_PAYLOAD));

const INVALID_EVENT = {
  message: 'The payload or the data of the event is not JSON, or larger than the limit for confined hooks.',
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
