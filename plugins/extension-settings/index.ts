import { capabilities, definePlugin } from '#kernel';
import { access } from '../access/contract.ts';
import { activity } from '../activity/contract.ts';
import '../database/contract.ts';
import { remotes } from '../broker/contract.ts';
import { routes } from '../http/contract.ts';
import { schema, systemCollections } from '../schema/contract.ts';
import { secrets } from '../secrets/contract.ts';
import { settingsCapability, settingsMethods } from './capability.ts';
import { settings } from './collections.ts';
import { extensionSettings } from './contract.ts';
import { declare } from './declaration.ts';
import { createOwners } from './owners.ts';
import manifest from './package.json' with { type: 'json' };
import { createReadValue } from './reader.ts';
import { settingsRoutes } from './routes.ts';
import { createStore } from './store.ts';
import { createValues } from './values.ts';

interface Settings {
  readonly 'SERVICE_EXT_*': Readonly<Record<string, string | undefined>>;
}

export default definePlugin<Settings>({
  manifest,
  register(host) {
    const { config, db, events, log } = host;
    const used = host.use({ access, activity, schema, secrets });
    const owners = createOwners(log);
    const store = createStore(db);
    const values = createValues(used.secrets, log);
    const read = createReadValue({ store, values, variables: config['SERVICE_EXT_*'] });

    host.contribute(systemCollections, settings);
    host.contribute(capabilities, settingsCapability(owners, read));
    host.contribute(remotes, settingsMethods);
    host.provide(extensionSettings, {
      declare,
      load: owners.load,
      reader: ({ id, name, declaration }) => ({
        get: async (key, options) => (owners.isAvailable(id) ? read(name, declaration, key, options) : null),
      }),
    });
    for (const route of settingsRoutes({ ...used, db, owners, store, values })) host.contribute(routes, route);
    // Another collection of the same name starts without them.
    events.onFilter('collections.delete', async (_payload, { keys }) => store.removeCollections(keys as string[]));
  },
});
