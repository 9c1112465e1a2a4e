import { capabilities, definePlugin } from '#kernel';
import { access } from '../access/contract.ts';
import { broker } from '../broker/contract.ts';
import { extensionSettings } from '../extension-settings/contract.ts';
import { fullAuthorityLoaders } from '../extensions/contract.ts';
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
import { serviceClasses } from './contract.ts';
import { fullAuthorityCapability } from './full-capability.ts';
import { INIT_EVENTS, runInitHandlers } from './init-events.ts';
import type { FullAuthorityDeps } from './injected-services.ts';
import manifest from './package.json' with { type: 'json' };

export default definePlugin({
  manifest,
  register(host) {
    const { log, packages, identity } = host;
    const used = host.use({
      access,
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
      afterFirstLoad: () => runInitHandlers(deps, INIT_EVENTS),
    });
  },
});
