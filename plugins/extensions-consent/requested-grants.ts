import type { Authority } from '#kernel';
import type { ExtensionSettings } from '../extension-settings/contract.ts';
import type { DiscoveredExtension, GrantsByCapability } from '../extensions/contract.ts';
import {
  findRequestedGrantsByEntry,
  hasExtensionAppPart,
  hasExtensionServerPart,
  isConfinedExtension,
} from '../extensions/library.ts';

/** What a package requests, and what an admin consents to. */
export interface RequestedGrants {
  /** Grants by contract key. */
  readonly entries: Readonly<Record<string, GrantsByCapability>>;
  /** Whether the package keeps state between callers. */
  readonly stateful: boolean;
  /** Whether a part of the package runs in the admin app, with the rights of the signed-in user. */
  readonly browser?: boolean;
  /** Whether code of the package runs in this process with full authority. */
  readonly full?: boolean;
  /**
   * Set for a plugin: all authorities that its manifest declares. Its code runs in this process with full authority.
   */
  readonly plugin?: readonly Authority[];
}

/** The requests of an extension, as plain JSON for storage and comparison. */
export function toRequestedGrants(
  extension: DiscoveredExtension,
  settings: Pick<ExtensionSettings, 'parseDeclaration'>,
): RequestedGrants {
  const { manifest } = extension;
  const isConfinedPackage = manifest !== undefined && isConfinedExtension(extension);
  const requested: RequestedGrants = {
    entries: isConfinedPackage ? Object.fromEntries(findRequestedGrantsByEntry(manifest, settings)) : {},
    stateful: manifest?.stateful === true,
    browser: hasExtensionAppPart(extension),
    full: !isConfinedPackage && hasExtensionServerPart(extension),
  };
  return JSON.parse(JSON.stringify(requested));
}

/** The requests of a third-party plugin, as plain JSON for storage and comparison. */
export const toPluginGrants = (authorities: readonly Authority[]): RequestedGrants =>
  JSON.parse(JSON.stringify({ entries: {}, stateful: false, plugin: authorities }));
