import { capabilities, definePlugin } from '#kernel';
import { remoteMethods } from '../broker/contract.ts';
import { workers } from '../workers/contract.ts';
import { createTemplateCapability, templateRemoteMethods } from './capability.ts';
import { templates } from './contract.ts';
import manifest from './package.json' with { type: 'json' };
import { createTemplateService } from './service.ts';
import { buildTemplateWorkerPoolOptions } from './template-pool-options.ts';

export default definePlugin({
  manifest,
  register(host) {
    const used = host.use({ workers });
    const service = createTemplateService(used.workers.pool(buildTemplateWorkerPoolOptions()));
    host.provide(templates, service);
    host.contribute(capabilities, createTemplateCapability(service));
    host.contribute(remoteMethods, templateRemoteMethods);
  },
});
