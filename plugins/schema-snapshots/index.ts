import { commands, definePlugin } from '#kernel';
import { extensionSettingValues } from '../extension-settings/contract.ts';
import type { ServiceClass } from '../extensions-full/contract.ts';
import { routes, routing } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { schema, schemaWrites } from '../schema/contract.ts';
import { createSchemaCommands } from './commands/schema-commands.ts';
import manifest from './package.json' with { type: 'json' };
import { createDashboardsPart } from './parts/dashboards.ts';
import { createFlowsPart } from './parts/flows.ts';
import { createPermissionsPart } from './parts/permissions.ts';
import { createRolesPart } from './parts/roles.ts';
import { createSettingsPart } from './parts/settings.ts';
import { createSnapshotRoutes } from './routes.ts';
import { createSchemaState } from './schema-state.ts';
import { schemaServiceClass } from './service-class.ts';

interface Config {
  readonly SCHEMA_SNAPSHOT_MAX_SIZE: number;
}

const USED = { 'extension-setting-values': extensionSettingValues, items, routing, schema, schemaWrites };

export default definePlugin<Config>({
  manifest,
  register(host) {
    const used = host.use(USED);
    const parts = [
      createRolesPart(used.items),
      createPermissionsPart(used.items),
      createFlowsPart(used.items),
      createDashboardsPart(used.items),
      createSettingsPart(used['extension-setting-values']),
    ];
    const state = createSchemaState({ schema: used.schema, writes: used.schemaWrites, parts });
    host.contribute<ServiceClass>('extensions.services', schemaServiceClass(state));
    const maxBytes = host.config.SCHEMA_SNAPSHOT_MAX_SIZE;
    for (const route of createSnapshotRoutes({ state, routing: used.routing, maxBytes }))
      host.contribute(routes, route);
    const system = () => host.asSystem('an admin of the machine reads or changes the schema by a command');
    for (const command of createSchemaCommands({
      state,
      items: used.items,
      settings: used['extension-setting-values'],
      system,
    }))
      host.contribute(commands, command);
  },
});
