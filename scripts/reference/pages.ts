import { renderCapabilitiesReferencePage } from './capabilities.ts';
import { loadCorePluginRegistrations, readCorePluginManifests } from './core-plugins.ts';
import { renderErrorsReferencePage } from './errors.ts';
import { renderEventsReferencePage } from './events.ts';
import { renderFiltersReferencePage } from './filters.ts';
import { renderManifestReferencePage } from './manifest.ts';
import { renderRoutesReferencePage } from './routes.ts';
import { renderSettingsReferencePage } from './settings.ts';

/** Renders the pages of docs/reference, by file name. */
export async function renderReferencePages(): Promise<ReadonlyMap<string, string>> {
  const registered = await loadCorePluginRegistrations();
  return new Map([
    ['settings.md', renderSettingsReferencePage()],
    ['errors.md', renderErrorsReferencePage()],
    ['events.md', renderEventsReferencePage(readCorePluginManifests())],
    ['capabilities.md', renderCapabilitiesReferencePage(registered)],
    ['filters.md', renderFiltersReferencePage()],
    ['routes.md', renderRoutesReferencePage(registered.routes)],
    ['manifest.md', renderManifestReferencePage()],
  ]);
}
