import { definePlugin } from '#kernel';
import { access } from '../access/contract.ts';
import type { ContributedGraphqlField } from '../graphql/contract.ts';
import { routes } from '../http/contract.ts';
import { schema, schemaWrites } from '../schema/contract.ts';
import { createCollectionRoutes } from './collection-routes.ts';
import { createCollectionCrud } from './collection-verbs.ts';
import { createFieldRoutes } from './field-routes.ts';
import { createFieldCrud } from './field-verbs.ts';
import { createCollectionGraphqlFields } from './graphql/collections.ts';
import { createFieldGraphqlFields } from './graphql/fields.ts';
import { createRelationGraphqlFields } from './graphql/relations.ts';
import manifest from './package.json' with { type: 'json' };
import { createRelationRoutes } from './relation-routes.ts';
import { createRelationCrud } from './relation-verbs.ts';

export default definePlugin({
  manifest,
  register(host) {
    const used = host.use({ access, schema, schemaWrites });
    const deps = { access: used.access, schema: used.schema, writes: used.schemaWrites };
    const collections = createCollectionCrud(deps);
    const fields = createFieldCrud(deps);
    const relations = createRelationCrud(deps);
    for (const route of [
      ...createCollectionRoutes(collections, deps),
      ...createFieldRoutes(fields, deps),
      ...createRelationRoutes(relations),
    ])
      host.contribute(routes, route);
    for (const field of [
      ...createCollectionGraphqlFields(collections),
      ...createFieldGraphqlFields(fields),
      ...createRelationGraphqlFields(relations),
    ])
      host.contribute<ContributedGraphqlField>('graphql.fields', field);
  },
});
