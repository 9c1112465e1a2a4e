import type { ErrorCode } from '#kernel';
import {
  BODY_ERROR_CODES,
  type BodyDescription,
  COMMON_ERROR_CODES,
  type ComponentReference,
  type JsonSchema,
  type ParameterDescription,
  type RouteDescription,
  type SchemaByMediaType,
} from './contract.ts';

// Constants and functions from which plugins make route descriptions. They run once, when a plugin contributes a route.

const JSON_TYPE = 'application/json';

export const TEXT_SCHEMA: JsonSchema = { type: 'string' };
export const BOOLEAN_SCHEMA: JsonSchema = { type: 'boolean' };
export const INTEGER_SCHEMA: JsonSchema = { type: 'integer' };
/** Any value. */
export const ANY_VALUE_SCHEMA: JsonSchema = {};
/** An object with any members. */
export const RECORD_SCHEMA: JsonSchema = { type: 'object' };

export const enumSchema = (...values: readonly string[]): JsonSchema => ({ type: 'string', enum: values });
export const listSchema = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
export const anyOfSchema = (...schemas: readonly JsonSchema[]): JsonSchema => ({ anyOf: schemas });
export const nullableSchema = (schema: JsonSchema): JsonSchema => anyOfSchema(schema, { type: 'null' });

/** An object with these members and possibly others; `required` names the mandatory ones. */
export const objectSchema = (
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): JsonSchema => ({ type: 'object', properties, ...(required.length > 0 ? { required } : {}) });

/** An object with all of `properties`, any of `optional`, and no other members. */
export const exactObjectSchema = (
  properties: Readonly<Record<string, JsonSchema>>,
  optional: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema => ({
  ...objectSchema({ ...properties, ...optional }, Object.keys(properties)),
  additionalProperties: false,
});

/** A reference to a schema in `components.schemas`. */
export const schemaRef = (name: string): JsonSchema & ComponentReference => ({ $ref: `#/components/schemas/${name}` });
/** A reference to a parameter in `components.parameters`. */
export const parameterRef = (name: string): ComponentReference => ({ $ref: `#/components/parameters/${name}` });

export const describeParameter = (description: string, schema: JsonSchema = TEXT_SCHEMA): ParameterDescription => ({
  description,
  schema,
});
export const describeRequiredParameter = (
  description: string,
  schema: JsonSchema = TEXT_SCHEMA,
): ParameterDescription => ({
  ...describeParameter(description, schema),
  required: true,
});

/** The envelope `{ data }`, with an optional `meta` where its schema is passed. */
export const dataEnvelopeSchema = (data: JsonSchema, meta?: JsonSchema): JsonSchema =>
  exactObjectSchema({ data }, meta === undefined ? {} : { meta });

/** 200 with `{ data }`, as `sendData` and `sendJsonTextInEnvelope` answer. */
export const describeDataAnswer = (
  data: JsonSchema,
  meta?: JsonSchema,
): Readonly<Record<number, SchemaByMediaType>> => ({
  200: { [JSON_TYPE]: dataEnvelopeSchema(data, meta) },
});

/** 204 without a body. */
export const NO_CONTENT_ANSWER_DESCRIPTION: Readonly<Record<number, SchemaByMediaType>> = { 204: {} };

export const describeJsonBody = (schema: JsonSchema, { required = true } = {}): BodyDescription => ({
  content: { [JSON_TYPE]: schema },
  required,
});

/** The body of every error response. Many codes have further members of `extensions` beside `code`. */
export const ERRORS_SCHEMA: JsonSchema = exactObjectSchema({
  errors: {
    ...listSchema(
      exactObjectSchema({ message: TEXT_SCHEMA, extensions: objectSchema({ code: TEXT_SCHEMA }, ['code']) }),
    ),
    minItems: 1,
  },
});

/**
 * The schema `Errors` as components of a description, for answers with a code that `kernel/errors.ts` does not list.
 */
export const errorsSchemaComponents = { schemas: { Errors: ERRORS_SCHEMA } } as const;

/**
 * All codes that a route may answer: its own, those of all routes, and those that follow from its method and access.
 */
export function errorCodesOf({
  method,
  description,
}: {
  readonly method: string;
  readonly description: RouteDescription;
}): ReadonlySet<ErrorCode> {
  const { access, errors = [] } = description;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return new Set([
    ...COMMON_ERROR_CODES,
    ...(hasBody ? BODY_ERROR_CODES : []),
    ...(access === 'public' ? [] : (['FORBIDDEN'] as const)),
    ...errors,
  ]);
}

/** Names of the parameters in a path, in their order. */
export const pathParameterNames = (path: string): readonly string[] =>
  [...path.matchAll(/[:*](\w+)/g)].map(([, name]) => name as string);
