import { capabilitiesPage } from './capabilities.ts';
import { coreManifests, loadRegisteredCatalog } from './core-plugins.ts';
import { errorsPage } from './errors.ts';
import { eventsPage } from './events.ts';
import { manifestPage } from './manifest.ts';
import { routesPage } from './routes.ts';
import { settingsPage } from './settings.ts';

/** Renders the pages of docs/reference, by file name. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  const registered = await loadRegisteredCatalog();
  return new Map([
    ['settings.md', settingsPage()],
    ['errors.md', errorsPage()],
    ['events.md', eventsPage(coreManifests())],
    ['capabilities.md', capabilitiesPage(registered)],
    ['routes.md', routesPage(registered.routes)],
    ['manifest.md', manifestPage()],
  ]);
}
