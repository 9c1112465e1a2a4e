import { capabilities, definePlugin } from '#kernel';
import { templateCapability } from './capability.ts';
import { templates } from './contract.ts';
import manifest from './package.json' with { type: 'json' };
import { createPool } from './pool.ts';
import { createTemplates } from './service.ts';

export default definePlugin({
  manifest,
  register(host) {
    const pool = createPool();
    const service = createTemplates(pool);
    host.provide(templates, service);
    host.contribute(capabilities, templateCapability(service));
    host.onStop(() => pool.stop());
  },
});
