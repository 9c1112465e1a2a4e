import type { SettingsStatus } from '../../extension-settings/contract.ts';
import {
  APP_EXTENSION_TYPES,
  type BundleEntryOutcome,
  type DiscoveredExtension,
  type LoadedExtension,
  type LoadFailure,
  SERVER_EXTENSION_TYPES,
} from '../extension-types.ts';
import {
  type ExtensionRow,
  type ExtensionStatus,
  type FailureReasonRedactor,
  toBundleEntryOutcomes,
} from '../records/info-record.ts';

/** One discovered extension with its state. */
export interface ExtensionLoadSlot {
  readonly extension: DiscoveredExtension;
  /** The result of the gate, for a confined package that passed it. */
  gated?: unknown;
  loaded?: LoadedExtension;
  failure?: LoadFailure;
  failedAtGate?: boolean;
  /** The failure of the browser code, if only this code failed. */
  appFailure?: LoadFailure;
  settings?: SettingsStatus;
}

const includes = (list: readonly string[], type: string | null): boolean => type !== null && list.includes(type);

export const isConfinedExtension = ({ manifest }: Pick<DiscoveredExtension, 'manifest'>): boolean =>
  manifest?.runtime !== undefined;
export const isAppExtension = ({ type }: DiscoveredExtension): boolean => includes(APP_EXTENSION_TYPES, type);

/**
 * Whether a part of the extension runs on the server. A bundle without server entries has a built server file all the
 * same.
 */
export const hasExtensionServerPart = ({ type, manifest }: DiscoveredExtension): boolean =>
  type === 'bundle'
    ? isConfinedExtension({ manifest } as DiscoveredExtension) ||
      (manifest?.entries ?? []).some((entry) => includes(SERVER_EXTENSION_TYPES, entry.type))
    : includes(SERVER_EXTENSION_TYPES, type);

export const hasExtensionAppPart = ({ type, manifest }: DiscoveredExtension): boolean =>
  type === 'bundle'
    ? (manifest?.entries ?? []).some((entry) => includes(APP_EXTENSION_TYPES, entry.type) || entry.type === 'operation')
    : includes(APP_EXTENSION_TYPES, type) || type === 'operation';

/** Renders a slot as a row of the list. `laterFailure` is a failure after it was loaded. */
export function toExtensionRow(
  slot: ExtensionLoadSlot,
  toReason: FailureReasonRedactor,
  laterFailure?: LoadFailure,
): ExtensionRow {
  const { extension, settings, appFailure } = slot;
  if (slot.failure?.code === 'DISABLED')
    return { extension, status: 'discovered', isDisabled: true, ...(settings === undefined ? {} : { settings }) };
  const failure = laterFailure ?? slot.failure;
  const reason = failure && toReason(failure, slot.failedAtGate === true && !laterFailure, extension.name);
  const entries = toBundleEntryOutcomes(extension, slot.loaded?.entries ?? [], reason, toReason);
  const status = computeStatus(slot, failure, entries);
  const isIncomplete = status === 'failed' || status === 'partial';
  const why =
    reason ??
    (status === 'failed' ? entries?.find((one) => one.reason !== undefined)?.reason : undefined) ??
    (isIncomplete && appFailure ? toReason(appFailure, false, extension.name) : undefined);
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
  { extension, appFailure }: ExtensionLoadSlot,
  failure: LoadFailure | undefined,
  entries: readonly BundleEntryOutcome[] | undefined,
): ExtensionStatus {
  if (failure) return 'failed';
  if (isAppExtension(extension)) return appFailure ? 'failed' : 'discovered';
  const server = (entries ?? []).filter((one) => includes(SERVER_EXTENSION_TYPES, one.type));
  const failed = server.filter((one) => one.status === 'failed').length;
  if (failed > 0) return failed === server.length ? 'failed' : 'partial';
  return appFailure ? 'partial' : 'loaded';
}
