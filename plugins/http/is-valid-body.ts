import type { ValidateFunction } from 'ajv';
import type { RouteDescription } from './contract.ts';

const JSON_TYPE = 'application/json';
const compiled = new WeakMap<RouteDescription, ValidateFunction>();

/**
 * Whether a parsed JSON body matches the schema of a route description. A missing body does when the description does
 * not require one. For routes that answer one error for all invalid bodies. The first body loads and compiles the
 * validator.
 */
export async function hasBodyMatchingRouteSchema(description: RouteDescription, body: unknown): Promise<boolean> {
  if (body === undefined) return description.body?.required === false;
  const validate = compiled.get(description) ?? (await compile(description));
  compiled.set(description, validate);
  return validate(body);
}

/** @throws Error for a description without a JSON schema, or with one that does not compile. */
async function compile({ body, components }: RouteDescription): Promise<ValidateFunction> {
  const schema = body?.content[JSON_TYPE];
  if (!schema) throw new Error('the description of the route has no schema for a JSON body');
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  // References are relative to the compiled schema. Formats and annotations are for API documents only.
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  return ajv.compile({ ...schema, components });
}
