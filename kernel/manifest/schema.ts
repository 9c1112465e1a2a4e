import type { SchemaObject } from 'ajv';

const names = { type: 'array', items: { type: 'string', minLength: 1 }, uniqueItems: true } as const;
const ranges = { type: 'object', additionalProperties: { type: 'string', minLength: 1 } } as const;

export const configSchema: SchemaObject = {
  type: 'object',
  // A name that ends in `*` stands for all that begin so.
  propertyNames: { pattern: '^[A-Z][A-Z0-9_]*\\*?$' },
  additionalProperties: {
    type: 'object',
    additionalProperties: false,
    required: ['type'],
    properties: {
      type: { enum: ['string', 'integer', 'number', 'boolean', 'array', 'duration', 'size', 'json'] },
      default: {},
      enum: names,
      minimum: { type: 'number' },
      maximum: { type: 'number' },
      secret: { type: 'boolean' },
      about: { type: 'string' },
    },
  },
};

/**
 * The manifest of a plugin: the `service:extension` key of a package.json, one shape for core and strangers. Unknown or
 * misplaced members are refused, never stripped. The other types of packages have a shape of their own, which the plugin
 * knows that runs them. Sections under `contributes`
 * and grants under `capabilities` are checked against the schemas their owners bring (see `validate.ts`).
 */
export const manifestSchema: SchemaObject = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'path', 'host'],
  properties: {
    type: { const: 'plugin' },
    path: { type: 'string', minLength: 1, pattern: '^(?!/)(?!.*\\.\\.)' },
    host: { type: 'string', minLength: 1 },
    provides: ranges,
    uses: ranges,
    facets: names,
    contributes: { type: 'object', additionalProperties: { type: 'object' } },
    config: configSchema,
    capabilities: { type: 'object' },
  },
};

export const packageSchema: SchemaObject = {
  type: 'object',
  required: ['name', 'version', 'service:extension'],
  properties: {
    name: { type: 'string', minLength: 1 },
    version: { type: 'string', minLength: 1 },
    'service:extension': manifestSchema,
  },
};
