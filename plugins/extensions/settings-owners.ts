import type { ExtensionSettings, SettingsOwner } from '../extension-settings/contract.ts';
import type { Found } from './model.ts';

/** The packages that declare settings. */
export const settingsOwners = (
  all: readonly Found[],
  settings: Pick<ExtensionSettings, 'declare'>,
): readonly SettingsOwner[] =>
  all
    .filter(({ manifest }) => manifest?.settings !== undefined)
    .map(({ id, name, manifest }) => ({ id, name, declaration: settings.declare(manifest?.settings).declaration }));
