import type { ContributedGraphqlField } from '../graphql/contract.ts';
import { describeHealth, type HealthReportDeps } from './health.ts';
import { buildServerInfo, type InfoDeps } from './info.ts';

interface Deps extends InfoDeps {
  readonly health: HealthReportDeps;
}

const INFO = `
  type server_info {
    project: server_info_project
    rateLimit: server_info_rate_limit
    rateLimitGlobal: server_info_rate_limit
    websocket: server_info_websocket
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
  type server_info_rate_limit { points: Int duration: Int }
  type server_info_websocket {
    rest: server_info_websocket_transport
    graphql: server_info_websocket_transport
    heartbeat: Int
  }
  type server_info_websocket_transport { authentication: String path: String }
  type server_info_query_limit { default: Int max: Int }
  type server_info_service { version: String }
`;

/** REST answers `false` for features that are off. A GraphQL type cannot be an object or `false`, so here it is null. */
const withoutFalse = (value: unknown): unknown => {
  if (value === false) return null;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutFalse(inner)]));
};

/** GraphQL fields for ping, info and health of the service. Information that the caller may not see is null. */
export const createServerGraphqlFields = ({ health, ...info }: Deps): readonly ContributedGraphqlField[] => [
  { scope: 'system', operation: 'query', definition: 'server_ping: String', resolve: () => 'pong' },
  {
    scope: 'system',
    operation: 'query',
    definition: 'server_info: server_info',
    types: INFO,
    resolve: async (_args, { caller }) => withoutFalse(await buildServerInfo(caller, info)),
  },
  {
    scope: 'system',
    operation: 'query',
    definition: 'server_health: JSON',
    resolve: (_args, { caller }) => describeHealth(caller, health),
  },
];
