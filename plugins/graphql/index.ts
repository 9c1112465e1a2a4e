import { definePlugin } from '#kernel';
import { access } from '../access/contract.ts';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { query } from '../query/contract.ts';
import { schema } from '../schema/contract.ts';
import { graphqlFields } from './contract.ts';
import { createDocuments } from './document/documents.ts';
import { createExecute } from './execute/execute.ts';
import { createExplorer } from './explorer/explorer.ts';
import { reportRefused } from './fields/report-refused.ts';
import { graphqlRoutes } from './http/routes.ts';
import { sdlField, sdlRoutes } from './http/sdl.ts';
import manifest from './package.json' with { type: 'json' };
import { createSchemas } from './schema/schemas.ts';

interface Config {
  GRAPHQL_QUERY_TOKEN_LIMIT: number;
  GRAPHQL_INTROSPECTION: boolean;
  GRAPHQL_SCHEMA_CACHE_CAPACITY: number;
  GRAPHQL_MAX_ALIASES: number;
  GRAPHQL_MAX_ROOT_FIELDS: number;
}

export default definePlugin<Config>({
  manifest,
  register(host) {
    const { config, log } = host;
    const used = host.use({ access, items, query, schema });
    const { ceilings } = used.query;
    const introspection = config.GRAPHQL_INTROSPECTION;
    const schemas = createSchemas({
      schema: used.schema,
      access: used.access,
      // The same list until a field is added or taken away: schemas are kept by it.
      contributed: () => host.read(graphqlFields).kept,
      capacity: config.GRAPHQL_SCHEMA_CACHE_CAPACITY,
      makeDocuments: createDocuments({
        tokens: config.GRAPHQL_QUERY_TOKEN_LIMIT,
        aliases: config.GRAPHQL_MAX_ALIASES,
        rootFields: config.GRAPHQL_MAX_ROOT_FIELDS,
        relations: ceilings.depth,
        nodes: ceilings.nodes,
        introspection,
      }),
      log,
    });
    const execute = createExecute({ items: used.items, schema: used.schema, ceilings, log, suggests: introspection });
    const explorer = createExplorer({ introspection, log });
    const sdl = { schemas, introspection };

    host.define(graphqlFields);
    for (const route of [...graphqlRoutes({ schemas, execute, explorer }), ...sdlRoutes(sdl), ...explorer.routes])
      host.contribute(routes, route);
    host.contribute(graphqlFields, sdlField(sdl));
    host.onStart(() => {
      const report = reportRefused(log);
      const update = () => report(host.read(graphqlFields).refused);
      update();
      host.watch(graphqlFields, update);
    });
  },
});
