import { capabilities, definePlugin } from '#kernel';
import { broker } from '../broker/contract.ts';
import { extensionSettings } from '../extension-settings/contract.ts';
import { confinedLoaders, extensionStatusControl } from '../extensions/contract.ts';
import { createPackageFlowOperations, createPackageMountRegistry } from '../extensions/library.ts';
import { flowOperations, operations } from '../flows/contract.ts';
import { routeMounts, routing } from '../http/contract.ts';
import { sandbox } from '../sandbox/contract.ts';
import { schema } from '../schema/contract.ts';
import { createConfinedPackageLoader } from './confined-packages.ts';
import { endpointCapability } from './endpoint-capability.ts';
import type { HostVersionCheckConfig } from './injected-services.ts';
import manifest from './package.json' with { type: 'json' };

export default definePlugin<Record<never, never>, HostVersionCheckConfig>({
  manifest,
  register(host) {
    const { config, log } = host;
    const used = host.use({
      subjects: broker,
      settings: extensionSettings,
      loader: extensionStatusControl,
      operations,
      routing,
      sandbox,
      schema,
    });
    const confined = createConfinedPackageLoader({
      ...used,
      config,
      log,
      mounts: createPackageMountRegistry({
        routing: used.routing,
        contribute: (mount) => host.contribute(routeMounts, mount),
        log,
      }),
      operations: createPackageFlowOperations(used.operations, (operation) =>
        host.contribute(flowOperations, operation),
      ),
    });
    host.contribute(capabilities, endpointCapability);
    host.contribute(confinedLoaders, {
      ...confined,
      runtime: () => used.sandbox.runtime(),
      runtimeState: () => used.sandbox.state(),
    });
  },
});
