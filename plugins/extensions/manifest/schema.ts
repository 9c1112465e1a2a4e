import { APP_EXTENSION_TYPES } from '../extension-types.ts';

const text = { type: 'string', minLength: 1 } as const;
const halves = {
  type: 'object',
  additionalProperties: false,
  required: ['app', 'api'],
  properties: { app: text, api: text },
} as const;
const record = { type: 'object' } as const;
/** Schemas of what an endpoint receives and answers; `endpoint-schemas.ts` checks them. */
const exchange = { input: record, output: record } as const;

/** Names of events, exact ones (conventions, "events"); segments are checked when the hook registers. */
const names = {
  type: 'array',
  minItems: 1,
  maxItems: 16,
  uniqueItems: true,
  items: {
    type: 'string',
    minLength: 1,
    maxLength: 128,
    pattern: '^[A-Za-z0-9_][A-Za-z0-9_.:-]*$',
    description: 'the exact name of an event, without wildcards',
  },
} as const;
const events = {
  type: 'object',
  additionalProperties: false,
  minProperties: 1,
  properties: { filter: names, action: names },
} as const;
const optionDelivery = {
  type: 'object',
  additionalProperties: {
    type: 'object',
    additionalProperties: false,
    required: ['delivery'],
    properties: { delivery: { const: 'reference' } },
  },
} as const;

/** Members of every package; `extension-settings` validates `settings`. */
const common = { host: text, hidden: { type: 'boolean' }, required: { type: 'boolean' }, settings: record } as const;
const confinement = {
  runtime: { const: 'confined-server' },
  stateful: { const: true },
} as const;

const shape = (required: readonly string[], properties: Record<string, object>) => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});
const manifest = (type: object, properties: Record<string, object>, ...required: string[]) =>
  shape(['type', 'host', 'path', ...required], { type, ...common, ...properties });

/**
 * Schemas of `service:extension` by type (conventions, "Manifest"). Unknown members are refused, never ignored: a
 * package that declares the confined runtime at a wrong place must not load with full authority.
 */
export const MANIFEST_SCHEMAS = {
  app: manifest({ enum: APP_EXTENSION_TYPES }, { path: text, source: text }),
  hook: manifest({ const: 'hook' }, { path: text, source: text, capabilities: record, events, ...confinement }),
  endpoint: manifest(
    { const: 'endpoint' },
    { path: text, source: text, capabilities: record, ...exchange, ...confinement },
  ),
  operation: manifest(
    { const: 'operation' },
    { path: halves, source: halves, capabilities: record, optionDelivery, ...confinement },
  ),
  bundle: manifest(
    { const: 'bundle' },
    { path: halves, entries: { type: 'array', items: { type: 'object' }, maxItems: 1000 }, ...confinement },
    'entries',
  ),
} as const;

/** Names appear in logs, consent requests and history, so they must not contain text that looks like something else. */
const entryName = { ...text, maxLength: 255, pattern: '^\\P{C}+$', description: 'a name on one line' } as const;
const entry = (type: object, properties: Record<string, object>) =>
  shape(['type', 'name', 'source'], { type, name: entryName, ...properties });

/** Entries of a bundle by type (conventions, "Bundle entries"): `runtime` stands at the root alone. */
export const BUNDLE_ENTRY_SCHEMAS = {
  app: entry({ enum: APP_EXTENSION_TYPES }, { source: text }),
  hook: entry({ const: 'hook' }, { source: text, capabilities: record, events }),
  endpoint: entry({ const: 'endpoint' }, { source: text, capabilities: record, ...exchange }),
  operation: entry({ const: 'operation' }, { source: halves, capabilities: record, optionDelivery }),
} as const;

/** The members of package.json that are validated, beside `service:extension`. */
export const PACKAGE_JSON_SCHEMA = {
  type: 'object',
  required: ['name', 'version', 'service:extension'],
  properties: {
    // Name and version are written together as `name@version` in the history.
    name: { ...text, maxLength: 214, pattern: '^@?[!-?A-~]+$', description: 'the name of a package' },
    version: { ...text, maxLength: 100, pattern: '^[!-?A-~]+$', description: 'a version' },
    type: { enum: ['module', 'commonjs'] },
    dependencies: { type: 'object', additionalProperties: { type: 'string' } },
    'service:extension': { type: 'object' },
  },
} as const;
