import { definePlugin } from '#kernel';
import { access } from '../access/contract.ts';
import type { GraphqlField } from '../graphql/contract.ts';
import { routes } from '../http/contract.ts';
import { schema, schemaWrites } from '../schema/contract.ts';
import { collectionRoutes } from './collection-routes.ts';
import { createCollectionVerbs } from './collection-verbs.ts';
import { fieldRoutes } from './field-routes.ts';
import { createFieldVerbs } from './field-verbs.ts';
import { collectionFields } from './graphql/collections.ts';
import { fieldFields } from './graphql/fields.ts';
import { relationFields } from './graphql/relations.ts';
import manifest from './package.json' with { type: 'json' };
import { relationRoutes } from './relation-routes.ts';
import { createRelationVerbs } from './relation-verbs.ts';

export default definePlugin({
  manifest,
  register(host) {
    const used = host.use({ access, schema, schemaWrites });
    const deps = { access: used.access, schema: used.schema, writes: used.schemaWrites };
    const collections = createCollectionVerbs(deps);
    const fields = createFieldVerbs(deps);
    const relations = createRelationVerbs(deps);
    for (const route of [
      ...collectionRoutes(collections, deps),
      ...fieldRoutes(fields, deps),
      ...relationRoutes(relations),
    ])
      host.contribute(routes, route);
    for (const field of [...collectionFields(collections), ...fieldFields(fields), ...relationFields(relations)])
      host.contribute<GraphqlField>('graphql.fields', field);
  },
});
