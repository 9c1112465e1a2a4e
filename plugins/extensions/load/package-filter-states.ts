import { type DiscoveredExtension, SERVER_EXTENSION_TYPES } from '../extension-types.ts';
import type { ExtensionRow } from '../records/info-record.ts';
import type { ThirdPartyPluginRecord } from '../third-party/plugins.ts';
import { type ExtensionLoadSlot, isConfinedExtension } from './extension-load-state.ts';

/** Which events a package filters, and which of them it does not filter now: for plugins that rely on packages. */
export interface PackageEventFilterState {
  /** A UUID computed from the location of the package. */
  readonly id: string;
  readonly name: string;
  /** Whether its manifest says `required`; undefined if the manifest cannot be read. */
  readonly declared: boolean | undefined;
  /** Names and patterns of the events that it filters; undefined if they are not known. */
  readonly filters: readonly string[] | undefined;
  /** The events of `filters` that it does not filter now; `all` if it does not run. */
  readonly missing: readonly string[] | 'all';
}

/** The state of an extension, from its slot and its row in the list. */
export function toExtensionFilterState(
  { extension, loaded }: ExtensionLoadSlot,
  { status, entries }: Pick<ExtensionRow, 'status' | 'entries'>,
): PackageEventFilterState {
  const { id, name, manifest } = extension;
  const filters = isConfinedExtension(extension)
    ? listConfinedFilters(extension)
    : listFullFilters(extension, loaded?.filters);
  const about = { id, name, declared: extension.type === null ? undefined : manifest?.required === true, filters };
  if (status === 'failed') return { ...about, missing: 'all' };
  const failed = new Set(entries?.filter((entry) => entry.status === 'failed').map((entry) => entry.name));
  const missing = (manifest?.entries ?? []).filter((entry) => failed.has(entry.name));
  return { ...about, missing: missing.flatMap(({ events }) => events?.filter ?? []) };
}

/** The state of a third-party plugin. */
export function toPluginFilterState(
  { manifest, status }: ThirdPartyPluginRecord,
  { id, name }: Pick<DiscoveredExtension, 'id' | 'name'>,
): PackageEventFilterState {
  const { events } = (manifest?.capabilities ?? {}) as { events?: { filter?: readonly string[] } };
  return {
    id,
    name,
    declared: manifest && manifest.required === true,
    filters: manifest && (events?.filter ?? []),
    missing: status === 'loaded' ? [] : 'all',
  };
}

const listConfinedFilters = ({ manifest }: DiscoveredExtension): readonly string[] =>
  [manifest, ...(manifest?.entries ?? [])].flatMap((part) => part?.events?.filter ?? []);

/** Code with full authority registers filters by code, so they are known only after it was loaded. */
function listFullFilters(
  { type, manifest }: DiscoveredExtension,
  filters: readonly string[] | undefined,
): readonly string[] | undefined {
  const types: readonly (string | null)[] = [type, ...(manifest?.entries ?? []).map((entry) => entry.type)];
  const mayFilter =
    type === null || types.some((one) => (SERVER_EXTENSION_TYPES as readonly (string | null)[]).includes(one));
  return mayFilter ? filters : [];
}
