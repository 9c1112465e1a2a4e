import type { ValidateFunction } from 'ajv';
import type { RouteDescription } from './contract.ts';

const JSON_TYPE = 'application/json';
const compiled = new WeakMap<RouteDescription, ValidateFunction>();

/**
 * Whether a parsed JSON body is what the description of a route accepts; a missing one is where the description does not
 * require it. For routes that have one refusal for everything else. The validator is loaded and made with the first body.
 */
export async function fitsBody(description: RouteDescription, body: unknown): Promise<boolean> {
  if (body === undefined) return description.body?.required === false;
  const validate = compiled.get(description) ?? (await compile(description));
  compiled.set(description, validate);
  return validate(body);
}

/** @throws where the description has no schema for JSON, or one that does not compile. */
async function compile({ body, components }: RouteDescription): Promise<ValidateFunction> {
  const schema = body?.content[JSON_TYPE];
  if (!schema) throw new Error('the description of the route has no schema for a JSON body');
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  // References begin at the root of what is compiled. Formats and annotations are for readers.
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  return ajv.compile({ ...schema, components });
}
