import { scimFailure } from './scim-error.ts';

export type ScimObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is ScimObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const invalidValue = (detail: string) => scimFailure(400, detail, 'invalidValue');
export const invalidSyntax = (detail: string) => scimFailure(400, detail, 'invalidSyntax');

/** Members by name in lower case, since names are compared so. @throws 400 `invalidSyntax` for two spellings of one name */
export function lowerCaseMembers(object: ScimObject): ReadonlyMap<string, unknown> {
  const members = new Map<string, unknown>();
  for (const [name, value] of Object.entries(object)) {
    const key = name.toLowerCase();
    if (members.has(key)) throw invalidSyntax(`"${name.slice(0, 100)}" stands twice in an object.`);
    members.set(key, value);
  }
  return members;
}

/** The members of a body that is of a schema. @throws 400 `invalidSyntax` */
export function parseScimBody(body: unknown, schema: string): ReadonlyMap<string, unknown> {
  if (!isObject(body)) throw invalidSyntax('The body must be a JSON object.');
  const members = lowerCaseMembers(body);
  const schemas = members.get('schemas');
  const isNamed = (one: unknown) => typeof one === 'string' && one.toLowerCase() === schema.toLowerCase();
  if (!Array.isArray(schemas) || !schemas.some(isNamed)) throw invalidSyntax(`"schemas" must have ${schema}.`);
  return members;
}

/** A text that is not empty, or null for one that is, and for null. @throws 400 `invalidValue` */
export function parseNullableText(attribute: string, value: unknown, maxLength: number): string | null {
  if (value === null || value === undefined || value === '') return null;
  if (typeof value !== 'string') throw invalidValue(`"${attribute}" must be a text.`);
  if (value.length > maxLength) throw invalidValue(`"${attribute}" has more than the ${maxLength} characters allowed.`);
  return value;
}

/** @throws 400 `invalidValue` */
export function parseRequiredText(attribute: string, value: unknown, maxLength: number): string {
  const text = parseNullableText(attribute, value, maxLength);
  if (text === null || text.trim() === '') throw invalidValue(`"${attribute}" must be a text that is not empty.`);
  return text;
}

/** A boolean, also as a text, which Entra ID sends. @throws 400 `invalidValue` */
export function parseBoolean(attribute: string, value: unknown): boolean {
  const text = typeof value === 'string' ? value.toLowerCase() : value;
  if (text === true || text === 'true') return true;
  if (text === false || text === 'false') return false;
  throw invalidValue(`"${attribute}" must be true or false.`);
}
