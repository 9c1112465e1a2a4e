import { basename } from 'node:path';
import type { SettingsStatus } from '../../extension-settings/contract.ts';
import {
  APP_TYPES,
  type ContributionFailure,
  type DiscoveredExtension,
  type EntryOutcome,
  type Reason,
  type ReasonCode,
} from '../model.ts';
import { redactDetail, redactGateDetail } from './redact.ts';
import { withRemedy } from './remedy.ts';

export type ExtensionStatus = 'loaded' | 'discovered' | 'failed' | 'partial';

/** Something that is listed: an extension, or a plugin that runs in this process. */
export type ListedPackage = Omit<DiscoveredExtension, 'type'> & {
  readonly type: DiscoveredExtension['type'] | 'plugin';
};

/** What became of something that was found, as it may be read. */
export interface ExtensionRow {
  readonly extension: ListedPackage;
  readonly status: ExtensionStatus;
  readonly reason?: Reason;
  readonly entries?: readonly EntryOutcome[];
  readonly settings?: SettingsStatus;
  /** What it filters is refused while it is not loaded. */
  readonly required?: true;
  readonly failures?: readonly ContributionFailure[];
}

/**
 * A row as `GET /extensions` shows it (specification, "Extension info record"). `id`, `bundle`, `schema` and `meta` are
 * for clients that know extensions in another shape. Members that do not apply are left out.
 */
export function toRecord({
  extension,
  status,
  reason,
  entries,
  settings,
  required,
  failures,
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
    meta: { id, source: local ? 'local' : 'module', enabled: true, folder, bundle: null },
  };
}

/** A failure as others may read it. */
export type ToReason = (
  failure: { readonly code: string; readonly detail: string },
  byGate: boolean,
  /** The package's name, which is no secret however long it is. */
  name?: string,
) => Reason;

export const createToReason =
  (redact: (text: string) => string): ToReason =>
  ({ code, detail }, byGate, name = '') => {
    const clean = byGate ? redactGateDetail : redactDetail;
    return { code, detail: withRemedy(code as ReasonCode, clean(detail, redact, name), byGate) };
  };

/**
 * Entries of a bundle as they are listed, with what became of each (specification, "Extension info record"). `reason` is why none
 * of the server's entries works.
 */
export function toEntryOutcomes(
  { name: own, manifest }: DiscoveredExtension,
  outcomes: readonly EntryOutcome[],
  reason: Reason | undefined,
  asReason: ToReason,
): readonly EntryOutcome[] | undefined {
  if (manifest?.entries === undefined) return undefined;
  // All of it is loaded or none, and of what failed nothing is served to browsers.
  if (manifest.runtime === undefined)
    return manifest.entries.map(({ name, type }) => ({
      name,
      type,
      status: reason ? 'failed' : 'loaded',
      ...(reason === undefined ? {} : { reason }),
    }));
  return manifest.entries.map(({ name, type, capabilities }): EntryOutcome => {
    if ((APP_TYPES as readonly string[]).includes(type)) return { name, type, status: 'loaded' };
    const shown = capabilities === undefined ? {} : { capabilities };
    const told = reason ? undefined : outcomes.find((one) => one.name === name && one.type === type);
    const why = reason ?? (told?.reason && asReason(told.reason, true, own));
    const status = reason ? 'failed' : (told?.status ?? 'loaded');
    return { name, type, status, ...(why === undefined ? {} : { reason: why }), ...shown };
  });
}
