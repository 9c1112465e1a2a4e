import { commands, definePlugin } from '#kernel';
import type { ServiceClass } from '../extensions-full/contract.ts';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { passwords } from '../passwords/contract.ts';
import { schema } from '../schema/contract.ts';
import { createCountCommand } from './count-command.ts';
import { hashRoutes } from './hash-routes.ts';
import manifest from './package.json' with { type: 'json' };
import { randomStringRoute } from './random-string-route.ts';
import { createRevert } from './revert.ts';
import { revertRoute } from './revert-route.ts';
import { utilsServiceClass } from './service-class.ts';
import { sortRoute } from './sort-route.ts';

export default definePlugin({
  manifest,
  register(host) {
    const used = host.use({ items, passwords, schema });
    const revert = createRevert(used.items, used.schema);
    host.contribute<ServiceClass>('extensions.services', utilsServiceClass(used.items, revert));
    const systemCaller = () => host.asSystem('an admin of the machine counts rows by a command');
    host.contribute(commands, createCountCommand({ ...used, systemCaller }));
    for (const route of [randomStringRoute, ...hashRoutes(used.passwords), sortRoute(used.items), revertRoute(revert)])
      host.contribute(routes, route);
  },
});
