import { capabilities, commands, definePlugin } from '#kernel';
import { access } from '../access/contract.ts';
import { broker } from '../broker/contract.ts';
import { extensionSettings } from '../extension-settings/contract.ts';
import { extensionStatusControl, fullAuthorityLoaders } from '../extensions/contract.ts';
import { createPackageFlowOperations, createPackageMountRegistry } from '../extensions/library.ts';
import { files } from '../files/contract.ts';
import { flowOperations, operations } from '../flows/contract.ts';
import { routeMounts, routing } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { query } from '../query/contract.ts';
import { schedule } from '../schedule/contract.ts';
import { schema, schemaWrites } from '../schema/contract.ts';
import { pageEmbeds } from '../sign-in-pages/contract.ts';
import { renderAdminPageEmbeds } from './admin-page-embeds.ts';
import { createPackageCommands } from './commands/package-commands.ts';
import { serviceClasses } from './contract.ts';
import { fullAuthorityCapability } from './full-capability.ts';
import { runInitHandlers, SERVICE_INIT_EVENTS } from './init-events.ts';
import type { FullAuthorityDeps } from './injected-services.ts';
import manifest from './package.json' with { type: 'json' };

export default definePlugin({
  manifest,
  register(host) {
    const { log, packages, identity } = host;
    const { extensions, ...used } = host.use({
      access,
      extensions: extensionStatusControl,
      subjects: broker,
      settings: extensionSettings,
      files,
      items,
      operations,
      query,
      routing,
      schedule,
      schema,
      schemaWrites,
    });
    const packageCommands = createPackageCommands({ log, extensions });
    const deps: FullAuthorityDeps = {
      ...used,
      log,
      packages,
      identity,
      mounts: createPackageMountRegistry({
        routing: used.routing,
        contribute: (mount) => host.contribute(routeMounts, mount),
        log,
      }),
      isCommandProcess: packageCommands.isCommandProcess,
      serviceClasses: () => host.read(serviceClasses),
      operations: createPackageFlowOperations(used.operations, (operation) =>
        host.contribute(flowOperations, operation),
      ),
    };
    host.define(serviceClasses);
    host.contribute(pageEmbeds, { render: () => renderAdminPageEmbeds(deps) });
    host.contribute(capabilities, fullAuthorityCapability);
    host.contribute(fullAuthorityLoaders, {
      load: async (extension, phase) => (await import('./load.ts')).loadFullAuthorityExtension(extension, deps, phase),
      async afterFirstLoad() {
        await packageCommands.emitEvents();
        if (!packageCommands.isCommandProcess()) await runInitHandlers(deps, SERVICE_INIT_EVENTS);
      },
    });
    host.contribute(commands, packageCommands.command);
  },
});
