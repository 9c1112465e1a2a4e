import { basename } from 'node:path';
import type { SettingsStatus } from '../../extension-settings/contract.ts';
import {
  APP_EXTENSION_TYPES,
  type BundleEntryOutcome,
  type ContributionFailure,
  type DiscoveredExtension,
  type FailureReason,
  type ReasonCode,
} from '../extension-types.ts';
import { redactDetail, redactGateDetail } from './redact.ts';
import { withRemedy } from './remedy.ts';

export type ExtensionStatus = 'loaded' | 'discovered' | 'failed' | 'partial';

/** A listed package: an extension or a third-party plugin. */
export type ListedPackage = Omit<DiscoveredExtension, 'type'> & {
  readonly type: DiscoveredExtension['type'] | 'plugin';
};

/** One package of the list with its state, redacted. */
export interface ExtensionRow {
  readonly extension: ListedPackage;
  readonly status: ExtensionStatus;
  readonly reason?: FailureReason;
  readonly entries?: readonly BundleEntryOutcome[];
  readonly settings?: SettingsStatus;
  /** Whether the events that the package filters are refused while the package is not loaded. */
  readonly required?: true;
  readonly failures?: readonly ContributionFailure[];
  /** An admin has switched it off. */
  readonly isDisabled?: true;
}

/**
 * A row as `GET /extensions` shows it (specification, "Extension info record"). `id`, `bundle`, `schema` and `meta` are
 * for clients that expect another shape. Members that do not apply are left out.
 */
export function toExtensionInfoRecord({
  extension,
  status,
  reason,
  entries,
  settings,
  required,
  failures,
  isDisabled,
}: ExtensionRow): Record<string, unknown> {
  const { id, name, type, local, version, manifest } = extension;
  const { runtime, capabilities, stateful } = manifest ?? {};
  const folder = extension.folder === '' ? name : basename(extension.folder);
  return {
    id,
    name,
    type,
    local,
    status,
    ...(version === undefined ? {} : { version }),
    ...(runtime === undefined ? {} : { runtime }),
    ...(capabilities === undefined ? {} : { capabilities }),
    ...(stateful === undefined ? {} : { stateful }),
    ...(reason === undefined ? {} : { reason }),
    ...(entries === undefined ? {} : { entries }),
    ...(settings === undefined ? {} : { settings }),
    ...(required === undefined ? {} : { required }),
    ...(failures === undefined ? {} : { failures }),
    bundle: null,
    schema: type === null ? null : { type, local, ...(version === undefined ? {} : { version }) },
    meta: { id, source: local ? 'local' : 'module', enabled: isDisabled !== true, folder, bundle: null },
  };
}

/** Turns a failure into a redacted reason. */
export type FailureReasonRedactor = (
  failure: { readonly code: string; readonly detail: string },
  byGate: boolean,
  /** The package's name, which is no secret however long it is. */
  name?: string,
) => FailureReason;

export const createFailureReasonRedactor =
  (redact: (text: string) => string): FailureReasonRedactor =>
  ({ code, detail }, byGate, name = '') => {
    const clean = byGate ? redactGateDetail : redactDetail;
    return { code, detail: withRemedy(code as ReasonCode, clean(detail, redact, name), byGate) };
  };

/**
 * The entries of a bundle with their states (specification, "Extension info record"). `reason` is set if no server
 * entry works.
 */
export function toBundleEntryOutcomes(
  { name: packageName, manifest }: DiscoveredExtension,
  outcomes: readonly BundleEntryOutcome[],
  reason: FailureReason | undefined,
  toReason: FailureReasonRedactor,
): readonly BundleEntryOutcome[] | undefined {
  if (manifest?.entries === undefined) return undefined;
  // A bundle with full authority is loaded as a whole or not at all; a failed one serves no browser code.
  if (manifest.runtime === undefined)
    return manifest.entries.map(({ name, type }) => ({
      name,
      type,
      status: reason ? 'failed' : 'loaded',
      ...(reason === undefined ? {} : { reason }),
    }));
  return manifest.entries.map(({ name, type, capabilities }): BundleEntryOutcome => {
    if ((APP_EXTENSION_TYPES as readonly string[]).includes(type)) return { name, type, status: 'loaded' };
    const shown = capabilities === undefined ? {} : { capabilities };
    const outcome = reason ? undefined : outcomes.find((one) => one.name === name && one.type === type);
    const entryReason = reason ?? (outcome?.reason && toReason(outcome.reason, true, packageName));
    const status = reason ? 'failed' : (outcome?.status ?? 'loaded');
    return { name, type, status, ...(entryReason === undefined ? {} : { reason: entryReason }), ...shown };
  });
}
