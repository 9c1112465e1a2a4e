import { capabilities, definePlugin } from '#kernel';
import { remoteMethods } from '../broker/contract.ts';
import { workers } from '../workers/contract.ts';
import { templateCapability, templateRemoteMethods } from './capability.ts';
import { templates } from './contract.ts';
import manifest from './package.json' with { type: 'json' };
import { createTemplates } from './service.ts';
import { createTemplatePoolOptions } from './template-pool-options.ts';

export default definePlugin({
  manifest,
  register(host) {
    const used = host.use({ workers });
    const service = createTemplates(used.workers.pool(createTemplatePoolOptions()));
    host.provide(templates, service);
    host.contribute(capabilities, templateCapability(service));
    host.contribute(remoteMethods, templateRemoteMethods);
  },
});
