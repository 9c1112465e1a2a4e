import { definePlugin } from '#kernel';
import { access } from '../access/contract.ts';
import type { ServiceClass } from '../extensions-full/contract.ts';
import { routes } from '../http/contract.ts';
import { assertStorableJson } from '../http/library.ts';
import { items } from '../items/contract.ts';
import { query } from '../query/contract.ts';
import { schema } from '../schema/contract.ts';
import { graphqlFields, graphqlOperations, graphqlSubscriptions } from './contract.ts';
import { createGraphqlExplorer } from './explorer/explorer.ts';
import { createRefusedFieldReporter } from './fields/refused-field-reporter.ts';
import { parseGraphqlRequestMembers } from './http/request.ts';
import { graphqlRoutes } from './http/routes.ts';
import { sdlField, sdlRoutes } from './http/sdl.ts';
import manifest from './package.json' with { type: 'json' };
import { graphqlServiceClasses } from './service-classes.ts';

/** Loads once, with the first call. After a failure the next call tries again. */
function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

/** Makes the check look at each text: the JSON text is gone. */
const NUL_ESCAPE = '\\u0000';

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
    const introspection = config.GRAPHQL_INTROSPECTION;
    const settings = {
      limits: {
        tokens: config.GRAPHQL_QUERY_TOKEN_LIMIT,
        aliases: config.GRAPHQL_MAX_ALIASES,
        rootFields: config.GRAPHQL_MAX_ROOT_FIELDS,
      },
      capacity: config.GRAPHQL_SCHEMA_CACHE_CAPACITY,
      introspection,
    };
    const contributed = () => host.read(graphqlFields).kept;
    const subscriptions = () => host.read(graphqlSubscriptions);
    const engine = loadOnce(async () => {
      const { createGraphqlEngine } = await import('./engine.ts');
      return createGraphqlEngine({ ...used, ...settings, contributed, subscriptions, log });
    });
    const explorer = createGraphqlExplorer({ introspection, log });

    host.define(graphqlFields);
    host.define(graphqlSubscriptions);
    host.provide(graphqlOperations, {
      parseRequest(members) {
        assertStorableJson(members, NUL_ESCAPE, 'The message');
        return parseGraphqlRequestMembers(members);
      },
      prepare: async (request, call) => (await engine()).prepare(request, call),
    });
    for (const route of [
      ...graphqlRoutes({ engine, explorer, subscriptions }),
      ...sdlRoutes(engine),
      ...explorer.routes,
    ])
      host.contribute(routes, route);
    host.contribute(graphqlFields, sdlField(engine));
    for (const one of graphqlServiceClasses(engine)) host.contribute<ServiceClass>('extensions.services', one);
    host.onStart(() => {
      const report = createRefusedFieldReporter(log);
      const update = () => report(host.read(graphqlFields).refused);
      update();
      host.watch(graphqlFields, update);
    });
  },
});
