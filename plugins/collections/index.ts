import { definePlugin } from '#kernel';
import { access } from '../access/contract.ts';
import { routes } from '../http/contract.ts';
import { schema, schemaWrites } from '../schema/contract.ts';
import { collectionRoutes } from './collection-routes.ts';
import { fieldRoutes } from './field-routes.ts';
import manifest from './package.json' with { type: 'json' };
import { relationRoutes } from './relation-routes.ts';

export default definePlugin({
  manifest,
  register(host) {
    const used = host.use({ access, schema, schemaWrites });
    const deps = { access: used.access, schema: used.schema, writes: used.schemaWrites };
    for (const route of [...collectionRoutes(deps), ...fieldRoutes(deps), ...relationRoutes(deps)])
      host.contribute(routes, route);
  },
});
