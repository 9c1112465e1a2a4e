import type { ExtensionSettings, SettingsOwner } from '../extension-settings/contract.ts';
import type { DiscoveredExtension } from './extension-types.ts';

/** The packages that declare settings. */
export const listSettingsOwners = (
  all: readonly DiscoveredExtension[],
  settings: Pick<ExtensionSettings, 'parseDeclaration'>,
): readonly SettingsOwner[] =>
  all
    .filter(({ manifest }) => manifest?.settings !== undefined)
    .map(({ id, name, manifest }) => ({
      id,
      name,
      declaration: settings.parseDeclaration(manifest?.settings).declaration,
    }));
