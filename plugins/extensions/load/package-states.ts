import { type DiscoveredExtension, SERVER_TYPES } from '../model.ts';
import type { ExtensionRow } from '../records/record.ts';
import type { ThirdPartyRecord } from '../third-party/third-party.ts';
import { isConfined, type Slot } from './slot.ts';

/** What other plugins may rely on a package for. */
export interface PackageState {
  /** A uuid made of where it lies. */
  readonly id: string;
  readonly name: string;
  /** Whether its manifest says `required`; undefined where the manifest cannot be read. */
  readonly declared: boolean | undefined;
  /** Names and patterns of the events that it filters; undefined where nothing says so. */
  readonly filters: readonly string[] | undefined;
  /** Those of them that it does not filter now, `all` where it does not run. */
  readonly missing: readonly string[] | 'all';
}

/** Of an extension, by its slot and the row that lists it. */
export function toPackageState(
  { extension, loaded }: Slot,
  { status, entries }: Pick<ExtensionRow, 'status' | 'entries'>,
): PackageState {
  const { id, name, manifest } = extension;
  const filters = isConfined(extension) ? listConfinedFilters(extension) : listFullFilters(extension, loaded?.filters);
  const about = { id, name, declared: extension.type === null ? undefined : manifest?.required === true, filters };
  if (status === 'failed') return { ...about, missing: 'all' };
  const failed = new Set(entries?.filter((entry) => entry.status === 'failed').map((entry) => entry.name));
  const missing = (manifest?.entries ?? []).filter((entry) => failed.has(entry.name));
  return { ...about, missing: missing.flatMap(({ events }) => events?.filter ?? []) };
}

/** Of a plugin that runs in this process. */
export function toPluginState(
  { manifest, status }: ThirdPartyRecord,
  { id, name }: Pick<DiscoveredExtension, 'id' | 'name'>,
): PackageState {
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

/** Code with full authority says so by its code alone: it is known once it was loaded. */
function listFullFilters(
  { type, manifest }: DiscoveredExtension,
  filters: readonly string[] | undefined,
): readonly string[] | undefined {
  const types: readonly (string | null)[] = [type, ...(manifest?.entries ?? []).map((entry) => entry.type)];
  const mayFilter = type === null || types.some((one) => (SERVER_TYPES as readonly (string | null)[]).includes(one));
  return mayFilter ? filters : [];
}
