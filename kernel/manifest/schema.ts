import type { SchemaObject } from 'ajv';

const name = { type: 'string', minLength: 1 } as const;
const names = { type: 'array', items: name, uniqueItems: true } as const;
const ranges = { type: 'object', additionalProperties: name } as const;

/** JSON schema of an object that has these members and no others; all of them are required unless `required` says otherwise. */
export const closedObjectSchema = (
  properties: Readonly<Record<string, SchemaObject>>,
  required: readonly string[] = Object.keys(properties),
): SchemaObject => ({ type: 'object', additionalProperties: false, required, properties });

/** JSON schema of a list with at least one entry. */
export const nonEmptyListSchema = (items: SchemaObject): SchemaObject => ({ type: 'array', items, minItems: 1 });

const setting = closedObjectSchema(
  {
    type: { enum: ['string', 'integer', 'number', 'boolean', 'array', 'duration', 'size', 'json'] },
    default: {},
    enum: names,
    minimum: { type: 'number' },
    maximum: { type: 'number' },
    secret: { type: 'boolean' },
    about: { type: 'string' },
  },
  ['type'],
);

export const manifestConfigSchema: SchemaObject = {
  type: 'object',
  // A name that ends in `*` matches all settings with that prefix.
  propertyNames: { pattern: '^(shared|[A-Z][A-Z0-9_]*\\*?)$' },
  // Names of settings that other plugins own.
  properties: { shared: names },
  additionalProperties: setting,
};

/**
 * The `service:extension` key of a plugin's package.json, of core and third-party ones. Unknown or misplaced members are refused,
 * never stripped. Sections under `contributes` and grants under `capabilities` are checked against the schemas of their owners.
 */
const manifestSchema = closedObjectSchema(
  {
    type: { const: 'plugin' },
    path: { ...name, pattern: '^(?!/)(?!.*\\.\\.)' },
    host: name,
    required: { type: 'boolean' },
    provides: ranges,
    uses: ranges,
    facets: names,
    contributes: { type: 'object', additionalProperties: { type: 'object' } },
    config: manifestConfigSchema,
    capabilities: { type: 'object' },
  },
  ['type', 'path', 'host'],
);

export const pluginPackageJsonSchema: SchemaObject = {
  type: 'object',
  required: ['name', 'version', 'service:extension'],
  properties: { name, version: name, 'service:extension': manifestSchema },
};
