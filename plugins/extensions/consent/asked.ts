import type { ExtensionSettings } from '../../extension-settings/contract.ts';
import { type Grants, grantsByEntry } from '../confined/grants.ts';
import { hasAppPart, hasServerPart, isConfined } from '../load/slot.ts';
import type { Found } from '../model.ts';

/** What a package asks for: what consent is given to. */
export interface Asked {
  /** Grants by contract key. */
  readonly entries: Readonly<Record<string, Grants>>;
  /** It keeps state between callers. */
  readonly stateful: boolean;
  /** A part of it runs in the admin app, as whoever is signed in there. */
  readonly browser?: boolean;
  /** Its code runs in this process, and nothing can be kept from it. */
  readonly full?: boolean;
}

/** As plain JSON, which is how it is kept and compared. */
export function askedOf(found: Found, settings: Pick<ExtensionSettings, 'declare'>): Asked {
  const { manifest } = found;
  const isHeld = manifest !== undefined && isConfined(found);
  const asked: Asked = {
    entries: isHeld ? Object.fromEntries(grantsByEntry(manifest, settings)) : {},
    stateful: manifest?.stateful === true,
    browser: hasAppPart(found),
    full: !isHeld && hasServerPart(found),
  };
  return JSON.parse(JSON.stringify(asked));
}
