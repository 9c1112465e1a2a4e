import type { ExtensionSettings } from '../../extension-settings/contract.ts';
import { type BundleEntry, type ExtensionManifest, SERVER_EXTENSION_TYPES } from '../extension-types.ts';
import { selectEffectiveGrants } from './capabilities.ts';

/** Grants by capability, as the broker takes them. */
export type GrantsByCapability = Readonly<Record<string, unknown>>;

/**
 * The grants that a confined package requests, by contract key (`''`, or `type:name` inside of a bundle). Consent and
 * enforcement use the same grants. The declared events and the package's own settings are part of them.
 */
export function findRequestedGrantsByEntry(
  manifest: ExtensionManifest,
  settings: Pick<ExtensionSettings, 'parseDeclaration'>,
): ReadonlyMap<string, GrantsByCapability> {
  // Settings need no capability: a key that is not declared has no value.
  const own = {
    settings: manifest.settings === undefined ? {} : settings.parseDeclaration(manifest.settings).declaration,
  };
  const grants = ({
    capabilities,
    events,
  }: Pick<ExtensionManifest, 'capabilities' | 'events'>): GrantsByCapability => ({
    ...selectEffectiveGrants(capabilities),
    ...(events === undefined ? {} : { events }),
    ...own,
  });
  if (manifest.type !== 'bundle') return new Map([['', grants(manifest)]]);
  return new Map(listServerBundleEntries(manifest).map((entry) => [`${entry.type}:${entry.name}`, grants(entry)]));
}

/** Entries of a bundle that run on the server. */
export const listServerBundleEntries = (manifest: ExtensionManifest): readonly BundleEntry[] =>
  (manifest.entries ?? []).filter(({ type }) => (SERVER_EXTENSION_TYPES as readonly string[]).includes(type));
