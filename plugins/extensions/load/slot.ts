import type { SettingsStatus } from '../../extension-settings/contract.ts';
import {
  APP_TYPES,
  type DiscoveredExtension,
  type EntryOutcome,
  type LoadedExtension,
  type LoadFailure,
  SERVER_TYPES,
} from '../model.ts';
import { type ExtensionRow, type ExtensionStatus, type ToReason, toEntryOutcomes } from '../records/record.ts';

/** One extension while it is known: what was found, and what became of it. */
export interface Slot {
  readonly extension: DiscoveredExtension;
  /** What the gate of confined packages let through. */
  gated?: unknown;
  loaded?: LoadedExtension;
  failure?: LoadFailure;
  failedAtGate?: boolean;
  /** The part for the browser alone is missing. */
  appFailure?: LoadFailure;
  settings?: SettingsStatus;
}

const includes = (list: readonly string[], type: string | null): boolean => type !== null && list.includes(type);

export const isConfined = ({ manifest }: Pick<DiscoveredExtension, 'manifest'>): boolean =>
  manifest?.runtime !== undefined;
export const isAppExtension = ({ type }: DiscoveredExtension): boolean => includes(APP_TYPES, type);

/** Does any of it run on the server? A bundle without such entries has a built file for them all the same. */
export const hasServerPart = ({ type, manifest }: DiscoveredExtension): boolean =>
  type === 'bundle'
    ? isConfined({ manifest } as DiscoveredExtension) ||
      (manifest?.entries ?? []).some((entry) => includes(SERVER_TYPES, entry.type))
    : includes(SERVER_TYPES, type);

export const hasAppPart = ({ type, manifest }: DiscoveredExtension): boolean =>
  type === 'bundle'
    ? (manifest?.entries ?? []).some((entry) => includes(APP_TYPES, entry.type) || entry.type === 'operation')
    : includes(APP_TYPES, type) || type === 'operation';

/** The slot as a row of the list. `since` is what went wrong after it was loaded. */
export function toRow(slot: Slot, asReason: ToReason, since?: LoadFailure): ExtensionRow {
  const { extension, settings, appFailure } = slot;
  const failure = since ?? slot.failure;
  const reason = failure && asReason(failure, slot.failedAtGate === true && !since, extension.name);
  const entries = toEntryOutcomes(extension, slot.loaded?.entries ?? [], reason, asReason);
  const status = computeStatus(slot, failure, entries);
  const isHalf = status === 'failed' || status === 'partial';
  const why =
    reason ??
    (status === 'failed' ? entries?.find((one) => one.reason !== undefined)?.reason : undefined) ??
    (isHalf && appFailure ? asReason(appFailure, false, extension.name) : undefined);
  return {
    extension,
    status,
    ...(why === undefined ? {} : { reason: why }),
    ...(entries === undefined ? {} : { entries }),
    ...(settings === undefined ? {} : { settings }),
    ...((slot.loaded?.failures ?? []).length === 0 ? {} : { failures: slot.loaded?.failures ?? [] }),
  };
}

function computeStatus(
  { extension, appFailure }: Slot,
  failure: LoadFailure | undefined,
  entries: readonly EntryOutcome[] | undefined,
): ExtensionStatus {
  if (failure) return 'failed';
  if (isAppExtension(extension)) return appFailure ? 'failed' : 'discovered';
  const server = (entries ?? []).filter((one) => includes(SERVER_TYPES, one.type));
  const failed = server.filter((one) => one.status === 'failed').length;
  if (failed > 0) return failed === server.length ? 'failed' : 'partial';
  return appFailure ? 'partial' : 'loaded';
}
