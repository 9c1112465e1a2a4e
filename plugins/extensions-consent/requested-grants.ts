import type { Authority } from '#kernel';
import type { ExtensionSettings } from '../extension-settings/contract.ts';
import type { DiscoveredExtension, Grants } from '../extensions/contract.ts';
import { grantsByEntry, hasAppPart, hasServerPart, isConfined } from '../extensions/library.ts';

/** What a package asks for: what consent is given to. */
export interface RequestedGrants {
  /** Grants by contract key. */
  readonly entries: Readonly<Record<string, Grants>>;
  /** It keeps state between callers. */
  readonly stateful: boolean;
  /** A part of it runs in the admin app, as whoever is signed in there. */
  readonly browser?: boolean;
  /** Its code runs in this process, and nothing can be kept from it. */
  readonly full?: boolean;
  /** It is a plugin: all that its manifest declares. Its code runs in this process as well. */
  readonly plugin?: readonly Authority[];
}

/** As plain JSON, which is how it is kept and compared. */
export function toRequestedGrants(
  found: DiscoveredExtension,
  settings: Pick<ExtensionSettings, 'parseDeclaration'>,
): RequestedGrants {
  const { manifest } = found;
  const isHeld = manifest !== undefined && isConfined(found);
  const asked: RequestedGrants = {
    entries: isHeld ? Object.fromEntries(grantsByEntry(manifest, settings)) : {},
    stateful: manifest?.stateful === true,
    browser: hasAppPart(found),
    full: !isHeld && hasServerPart(found),
  };
  return JSON.parse(JSON.stringify(asked));
}

/** The same of a plugin. */
export const toPluginGrants = (authorities: readonly Authority[]): RequestedGrants =>
  JSON.parse(JSON.stringify({ entries: {}, stateful: false, plugin: authorities }));
