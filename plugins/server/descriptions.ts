import type { RouteDescription } from '../http/contract.ts';
import {
  anyOf,
  dataAnswer,
  exactObject,
  INTEGER,
  listOf,
  nullable,
  objectOf,
  oneOfTexts,
  schemaRef,
  TEXT,
} from '../http/library.ts';

const STATUS = oneOfTexts('ok', 'warn', 'error');
const NUMBER = { type: 'number' };
const OPTIONAL_TEXT = nullable(TEXT);

const CHECK = exactObject(
  { componentType: TEXT, status: STATUS, observedAt: { ...TEXT, format: 'date-time' } },
  { observedValue: NUMBER, observedUnit: TEXT, threshold: NUMBER, output: TEXT },
);
/** The answer of the health check. Members beside `status` are for admins. */
const HEALTH = exactObject(
  { status: STATUS },
  {
    releaseId: TEXT,
    serviceId: TEXT,
    checks: { type: 'object', additionalProperties: listOf(schemaRef('HealthCheck')) },
  },
);
/** JSON schema of `false`, which stands in the answer for a feature that is switched off. */
const OFF = { const: false };
const RATE_LIMIT = anyOf(OFF, exactObject({ points: INTEGER, duration: INTEGER }));
const TRANSPORT = anyOf(OFF, exactObject({ authentication: TEXT, path: TEXT }));
const INFO = exactObject(
  {
    project: exactObject({
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
    websocket: anyOf(OFF, exactObject({ rest: TRANSPORT, graphql: TRANSPORT, heartbeat: anyOf(OFF, INTEGER) })),
    queryLimit: objectOf({ default: INTEGER, max: INTEGER }, ['default', 'max']),
    service: exactObject({ version: TEXT }),
  },
);

const ENTRY_POINT = exactObject({
  service: TEXT,
  links: exactObject({ info: TEXT, health: TEXT, login: TEXT, items: TEXT, graphql: TEXT }),
});

const components = { schemas: { EntryPoint: ENTRY_POINT, Health: HEALTH, HealthCheck: CHECK, ServerInfo: INFO } };
const health = { 'application/health+json': schemaRef('Health') };

export const SERVER_HEALTH: RouteDescription = {
  tag: 'server',
  access: 'public',
  summary: 'Answers whether the service works; admins see the checks.',
  answers: { 200: health, 503: health },
  components,
};

export const SERVER_INFO: RouteDescription = {
  tag: 'server',
  access: 'public',
  summary: 'Answers what the caller may know of the project and the service.',
  answers: dataAnswer(schemaRef('ServerInfo')),
  components,
};

export const SERVER_ROOT: RouteDescription = {
  tag: 'server',
  access: 'public',
  summary: 'Answers where the routes of the service begin, or redirects to ROOT_REDIRECT.',
  answers: { ...dataAnswer(schemaRef('EntryPoint')), 302: {} },
  components,
};
