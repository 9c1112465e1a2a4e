import { definePlugin } from '#kernel';
import { bus } from '../cluster/contract.ts';
import { migrations } from '../database/contract.ts';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { collectionRoutes } from '../items/library.ts';
import { mailVariables } from '../mail/contract.ts';
import { systemCollections } from '../schema/contract.ts';
import { assertAssetPresets } from './assert-asset-presets-setting.ts';
import { assertLoginAttemptsSetting } from './assert-login-attempts-setting.ts';
import { assertSettingsFilesReadable } from './assert-readable-setting-files.ts';
import { createCachedSettings, createSettingsTriggerMigration } from './cached-settings.ts';
import { SETTINGS_COLLECTION, settingsCollection } from './collections.ts';
import { settings } from './contract.ts';
import { writeInitialProjectName } from './initial-project-name.ts';
import { createProjectMailVariables } from './mail-variables.ts';
import manifest from './package.json' with { type: 'json' };

interface Config {
  readonly PROJECT_NAME: string | undefined;
}

export default definePlugin<Config>({
  manifest,
  register(host) {
    const { config, db, events } = host;
    const used = host.use({ items, bus });
    host.contribute(systemCollections, settingsCollection);
    host.contribute(migrations, createSettingsTriggerMigration(db));

    host.onMigrate(async () => {
      if (config.PROJECT_NAME !== undefined) await writeInitialProjectName(db, config.PROJECT_NAME);
    });

    const remembered = createCachedSettings(db, used.bus);
    host.provide(settings, remembered);
    host.contribute(mailVariables, createProjectMailVariables(remembered));
    for (const action of ['create', 'update']) {
      events.onFilter(`settings.${action}`, async (payload, meta) => {
        assertAssetPresets((payload as Record<string, unknown>).storage_asset_presets);
        assertLoginAttemptsSetting((payload as Record<string, unknown>).auth_login_attempts);
        await assertSettingsFilesReadable({ items: used.items, settings: remembered }, payload, meta);
        // No other process may serve a file that is no longer public once this process has answered, so the answer waits.
        db.answerAfter(used.bus.waitForConfirmation);
        // The settings row has the id of its column's default; an update to another id is refused as in any system collection.
        const { id: _id, ...rest } = payload as Record<string, unknown>;
        return action === 'create' ? rest : undefined;
      });
      // The next request of this process must see the change before the message from the database arrives.
      events.onAction(`settings.${action}`, remembered.forget);
    }
    const singleton = { isSingleton: async () => true, about: { holds: 'one' } } as const;
    for (const route of collectionRoutes(used.items, '/settings', SETTINGS_COLLECTION, singleton)) {
      const isOfOne = route.path === '/settings' && ['GET', 'SEARCH', 'PATCH'].includes(route.method);
      if (isOfOne) host.contribute(routes, route);
    }
  },
});
