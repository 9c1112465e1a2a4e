import { Ajv, type ErrorObject, type SchemaObject, type ValidateFunction } from 'ajv';

// A schema checks few values: optimising its code, or checking the schema itself, costs more than it saves.
const quick = { code: { optimize: false }, meta: false, validateSchema: false };
const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, strict: false, verbose: true, ...quick });
const compiled = new WeakMap<SchemaObject, ValidateFunction>();

/**
 * Problems of a value under a schema, each with its path; empty when it fits. What breaks a pattern, or fits none or several of
 * `oneOf`, is named by the schema's `description`: "must be <description>".
 */
export function findJsonSchemaProblems(schema: SchemaObject, value: unknown, at = ''): readonly string[] {
  const validate = compiled.get(schema) ?? ajv.compile(schema);
  compiled.set(schema, validate);
  return validate(value) ? [] : (validate.errors ?? []).filter(isReported).map((error) => render(error, at));
}

/** A failed `oneOf` or `if` is one problem, without those of its branches. */
const isReported = ({ keyword, schemaPath }: ErrorObject) => keyword !== 'if' && !schemaPath.includes('/oneOf/');

const render = (error: ErrorObject, at: string): string => `${at + error.instancePath || '/'} ${renderRule(error)}`;

function renderRule({ keyword, params, message, parentSchema }: ErrorObject): string {
  const about = parentSchema?.description;
  if (keyword === 'additionalProperties') return `${message} "${params.additionalProperty}"`;
  if (keyword === 'enum') return `${message} ${params.allowedValues.join(', ')}`;
  if (keyword === 'const') return `must be ${JSON.stringify(params.allowedValue)}`;
  if ((keyword === 'pattern' || keyword === 'oneOf') && about !== undefined) return `must be ${about}`;
  return message ?? 'is wrong';
}
