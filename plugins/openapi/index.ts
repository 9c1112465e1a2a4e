import { definePlugin } from '#kernel';
import { access } from '../access/contract.ts';
import type { ServiceClass } from '../extensions-full/contract.ts';
import type { ContributedGraphqlField } from '../graphql/contract.ts';
import { routes, routing } from '../http/contract.ts';
import { schema } from '../schema/contract.ts';
import { createDocumentCache } from './document-cache.ts';
import { createDocumentRoute } from './document-routes.ts';
import manifest from './package.json' with { type: 'json' };
import { createPageFileLoader, createPageFileRoute } from './page/page-files.ts';
import { createPageRoute } from './page/page-route.ts';
import { openApiServiceClass } from './service-class.ts';

interface Config {
  OPENAPI_ENABLED: boolean;
}

interface Shared {
  PUBLIC_URL: string;
  REFRESH_TOKEN_COOKIE_NAME: string;
}

export default definePlugin<Config, Shared>({
  manifest,
  register(host) {
    const { OPENAPI_ENABLED, PUBLIC_URL, REFRESH_TOKEN_COOKIE_NAME } = host.config;
    const used = host.use({ access, routing, schema });
    if (!OPENAPI_ENABLED) return;
    const documents = createDocumentCache({
      ...used,
      server: PUBLIC_URL.replace(/\/+$/, '') || '/',
      cookie: REFRESH_TOKEN_COOKIE_NAME,
    });
    const loadPageFiles = createPageFileLoader();
    for (const route of [
      createDocumentRoute(documents),
      createPageRoute(loadPageFiles),
      createPageFileRoute(loadPageFiles),
    ])
      host.contribute(routes, route);
    host.contribute<ServiceClass>('extensions.services', openApiServiceClass(documents));
    host.contribute<ContributedGraphqlField>('graphql.fields', {
      scope: 'system',
      operation: 'query',
      definition: 'server_specs_oas: JSON',
      once: true,
      resolve: async (_args, { caller }) => JSON.parse((await documents.get(caller)).json.toString()),
    });
  },
});
