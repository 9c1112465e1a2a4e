import type { GraphqlField } from '../graphql/contract.ts';
import { type HealthDeps, healthFor } from './health.ts';
import { type InfoDeps, infoFor } from './info.ts';

interface Deps extends InfoDeps {
  readonly health: HealthDeps;
}

const INFO = `
  type server_info {
    project: server_info_project
    rateLimit: Boolean
    rateLimitGlobal: Boolean
    websocket: Boolean
    queryLimit: server_info_query_limit
    service: server_info_service
  }
  type server_info_project {
    project_name: String
    project_descriptor: String
    project_logo: String
    project_color: String
    default_language: String
    public_foreground: String
    public_background: String
    public_favicon: String
    public_note: String
    custom_css: String
  }
  type server_info_query_limit { default: Int max: Int }
  type server_info_service { version: String }
`;

/** The same by GraphQL. What a caller's level does not have of the information is null. */
export const serverFields = ({ health, ...info }: Deps): readonly GraphqlField[] => [
  { scope: 'system', operation: 'query', definition: 'server_ping: String', resolve: () => 'pong' },
  {
    scope: 'system',
    operation: 'query',
    definition: 'server_info: server_info',
    types: INFO,
    resolve: (_args, { caller }) => infoFor(caller, info),
  },
  {
    scope: 'system',
    operation: 'query',
    definition: 'server_health: JSON',
    resolve: (_args, { caller }) => healthFor(caller, health),
  },
];
