import type { SettingsStatus } from '../../extension-settings/contract.ts';
import { APP_TYPES, type EntryOutcome, type Found, type Loaded, type LoadFailure, SERVER_TYPES } from '../model.ts';
import { type AsReason, entriesOf, type Row, type Status } from '../records/record.ts';

/** One extension while it is known: what was found, and what became of it. */
export interface Slot {
  readonly found: Found;
  /** What the gate of confined packages let through. */
  gated?: unknown;
  loaded?: Loaded;
  failure?: LoadFailure;
  byGate?: boolean;
  /** The part for the browser alone is missing. */
  appFailure?: LoadFailure;
  settings?: SettingsStatus;
}

const includes = (list: readonly string[], type: string | null): boolean => type !== null && list.includes(type);

export const isConfined = ({ manifest }: Pick<Found, 'manifest'>): boolean => manifest?.runtime !== undefined;
export const isApp = ({ type }: Found): boolean => includes(APP_TYPES, type);

/** Does any of it run on the server? A bundle without such entries has a built file for them all the same. */
export const hasServerPart = ({ type, manifest }: Found): boolean =>
  type === 'bundle'
    ? isConfined({ manifest } as Found) || (manifest?.entries ?? []).some((entry) => includes(SERVER_TYPES, entry.type))
    : includes(SERVER_TYPES, type);

export const hasAppPart = ({ type, manifest }: Found): boolean =>
  type === 'bundle'
    ? (manifest?.entries ?? []).some((entry) => includes(APP_TYPES, entry.type) || entry.type === 'operation')
    : includes(APP_TYPES, type) || type === 'operation';

/** The slot as a row of the list. `since` is what went wrong after it was loaded. */
export function rowOf(slot: Slot, asReason: AsReason, since?: LoadFailure): Row {
  const { found, settings, appFailure } = slot;
  const failure = since ?? slot.failure;
  const reason = failure && asReason(failure, slot.byGate === true && !since, found.name);
  const entries = entriesOf(found, slot.loaded?.entries ?? [], reason, asReason);
  const status = statusOf(slot, failure, entries);
  const isHalf = status === 'failed' || status === 'partial';
  const why =
    reason ??
    (status === 'failed' ? entries?.find((one) => one.reason !== undefined)?.reason : undefined) ??
    (isHalf && appFailure ? asReason(appFailure, false, found.name) : undefined);
  return {
    found,
    status,
    ...(why === undefined ? {} : { reason: why }),
    ...(entries === undefined ? {} : { entries }),
    ...(settings === undefined ? {} : { settings }),
    ...((slot.loaded?.failures ?? []).length === 0 ? {} : { failures: slot.loaded?.failures ?? [] }),
  };
}

function statusOf(
  { found, appFailure }: Slot,
  failure: LoadFailure | undefined,
  entries: readonly EntryOutcome[] | undefined,
): Status {
  if (failure) return 'failed';
  if (isApp(found)) return appFailure ? 'failed' : 'discovered';
  const server = (entries ?? []).filter((one) => includes(SERVER_TYPES, one.type));
  const failed = server.filter((one) => one.status === 'failed').length;
  if (failed > 0) return failed === server.length ? 'failed' : 'partial';
  return appFailure ? 'partial' : 'loaded';
}
