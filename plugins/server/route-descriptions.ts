import type { RouteDescription } from '../http/contract.ts';
import {
  anyOfSchema,
  describeDataAnswer,
  enumSchema,
  exactObjectSchema,
  INTEGER_SCHEMA,
  listSchema,
  nullableSchema,
  objectSchema,
  schemaRef,
  TEXT_SCHEMA,
} from '../http/library.ts';

const STATUS = enumSchema('ok', 'warn', 'error');
const NUMBER = { type: 'number' };
const OPTIONAL_TEXT = nullableSchema(TEXT_SCHEMA);

const CHECK = exactObjectSchema(
  { componentType: TEXT_SCHEMA, status: STATUS, observedAt: { ...TEXT_SCHEMA, format: 'date-time' } },
  { observedValue: NUMBER, observedUnit: TEXT_SCHEMA, threshold: NUMBER, output: TEXT_SCHEMA },
);
/** The answer of the health check. Members beside `status` are for admins. */
const HEALTH = exactObjectSchema(
  { status: STATUS },
  {
    releaseId: TEXT_SCHEMA,
    serviceId: TEXT_SCHEMA,
    checks: { type: 'object', additionalProperties: listSchema(schemaRef('HealthCheck')) },
  },
);
/** JSON schema of `false`, which stands in the answer for a feature that is switched off. */
const OFF = { const: false };
const RATE_LIMIT = anyOfSchema(OFF, exactObjectSchema({ points: INTEGER_SCHEMA, duration: INTEGER_SCHEMA }));
const TRANSPORT = anyOfSchema(OFF, exactObjectSchema({ authentication: TEXT_SCHEMA, path: TEXT_SCHEMA }));
const INFO = exactObjectSchema(
  {
    project: exactObjectSchema({
      project_name: OPTIONAL_TEXT,
      project_descriptor: OPTIONAL_TEXT,
      project_logo: OPTIONAL_TEXT,
      project_color: OPTIONAL_TEXT,
      default_language: OPTIONAL_TEXT,
      public_foreground: OPTIONAL_TEXT,
      public_background: OPTIONAL_TEXT,
      public_favicon: OPTIONAL_TEXT,
      public_note: OPTIONAL_TEXT,
      custom_css: OPTIONAL_TEXT,
    }),
  },
  {
    rateLimit: RATE_LIMIT,
    rateLimitGlobal: RATE_LIMIT,
    websocket: anyOfSchema(
      OFF,
      exactObjectSchema({ rest: TRANSPORT, graphql: TRANSPORT, heartbeat: anyOfSchema(OFF, INTEGER_SCHEMA) }),
    ),
    queryLimit: objectSchema({ default: INTEGER_SCHEMA, max: INTEGER_SCHEMA }, ['default', 'max']),
    service: exactObjectSchema({ version: TEXT_SCHEMA }),
  },
);

const ENTRY_POINT = exactObjectSchema({
  service: TEXT_SCHEMA,
  links: exactObjectSchema(
    { info: TEXT_SCHEMA, login: TEXT_SCHEMA, items: TEXT_SCHEMA, graphql: TEXT_SCHEMA },
    { health: TEXT_SCHEMA },
  ),
});

const components = { schemas: { EntryPoint: ENTRY_POINT, Health: HEALTH, HealthCheck: CHECK, ServerInfo: INFO } };
const health = { 'application/health+json': schemaRef('Health') };

export const HEALTH_ROUTE_DESCRIPTION: RouteDescription = {
  tag: 'server',
  access: 'public',
  summary: 'Answers whether the service works; admins see the checks.',
  answers: { 200: health, 503: health },
  components,
};

export const INFO_ROUTE_DESCRIPTION: RouteDescription = {
  tag: 'server',
  access: 'public',
  summary: 'Answers what the caller may know of the project and the service.',
  answers: describeDataAnswer(schemaRef('ServerInfo')),
  components,
};

export const ROOT_ROUTE_DESCRIPTION: RouteDescription = {
  tag: 'server',
  access: 'public',
  summary: 'Answers where the routes of the service begin, or redirects to ROOT_REDIRECT.',
  answers: { ...describeDataAnswer(schemaRef('EntryPoint')), 302: {} },
  components,
};

export const ROBOTS_ROUTE_DESCRIPTION: RouteDescription = {
  tag: 'server',
  access: 'public',
  summary: 'Answers which parts of the service search engines may read (ROBOTS_TXT).',
  answers: { 200: { 'text/plain': TEXT_SCHEMA } },
};
