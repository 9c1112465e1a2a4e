import { capabilities, definePlugin } from '#kernel';
import { access } from '../access/contract.ts';
import { activity } from '../activity/contract.ts';
import '../database/contract.ts';
import { remoteMethods } from '../broker/contract.ts';
import { routes } from '../http/contract.ts';
import { schema, systemCollections } from '../schema/contract.ts';
import { secrets } from '../secrets/contract.ts';
import { createSettingsCapability, remoteSettingsMethods } from './capability.ts';
import { extensionSettingsCollection } from './collections.ts';
import { extensionSettings, extensionSettingValues } from './contract.ts';
import { parseSettingsDeclaration } from './declaration.ts';
import { createSettingsOwnerRegistry } from './owners.ts';
import manifest from './package.json' with { type: 'json' };
import { createReadSettingValue } from './reader.ts';
import { createExtensionSettingsRoutes } from './routes.ts';
import { createSettingStore } from './store.ts';
import { createExtensionSettingValues } from './transfer.ts';
import { createSettingValueCodec } from './value-codec.ts';

interface Settings {
  readonly 'SERVICE_EXT_*': Readonly<Record<string, string | undefined>>;
}

export default definePlugin<Settings>({
  manifest,
  register(host) {
    const { config, db, events, log } = host;
    const used = host.use({ access, activity, schema, secrets });
    const owners = createSettingsOwnerRegistry(log);
    const store = createSettingStore(db);
    const values = createSettingValueCodec(used.secrets, log);
    const read = createReadSettingValue({ store, values, variables: config['SERVICE_EXT_*'] });

    host.contribute(systemCollections, extensionSettingsCollection);
    host.contribute(capabilities, createSettingsCapability(owners, read));
    host.contribute(remoteMethods, remoteSettingsMethods);
    host.provide(extensionSettings, {
      parseDeclaration: parseSettingsDeclaration,
      setOwners: owners.load,
      createReader: ({ id, name, declaration }) => ({
        get: async (key, options) => (owners.isAvailable(id) ? read(name, declaration, key, options) : null),
      }),
    });
    host.provide(extensionSettingValues, createExtensionSettingValues({ ...used, db, owners, store, values }));
    for (const route of createExtensionSettingsRoutes({ ...used, db, owners, store, values }))
      host.contribute(routes, route);
    // A new collection of the same name must start without these settings.
    events.onFilter('collections.delete', async (_payload, { keys }) => store.removeCollections(keys as string[]));
  },
});
