import { fail } from '#kernel';

/** The members of a body: names with the greatest number of characters of their texts. */
export interface TextFields<Required extends string, Optional extends string> {
  readonly required: Readonly<Record<Required, number>>;
  readonly optional?: Readonly<Record<Optional, number>>;
}

const invalid = (field: string, expected: string) =>
  fail('INVALID_PAYLOAD', `"${field}" ${expected}.`, { field, path: [field] });

/**
 * Parses a body whose members are texts, from HTTP or as arguments of GraphQL. A member that is null counts as absent.
 * @throws INVALID_PAYLOAD for a body that is no object, for a missing, unknown, or too long member, and for one that is no text.
 */
export function parseTextFields<Required extends string, Optional extends string = never>(
  body: unknown,
  { required, optional }: TextFields<Required, Optional>,
): Readonly<Record<Required, string> & Partial<Record<Optional, string>>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw fail('INVALID_PAYLOAD', 'the body must be an object');
  const limits: Readonly<Record<string, number>> = { ...required, ...optional };
  const fields: Record<string, string> = {};
  for (const [name, value] of Object.entries(body)) {
    if (!Object.hasOwn(limits, name)) throw invalid(name, 'is not known');
    if (value !== null && value !== undefined) fields[name] = parseText(name, value, limits[name] as number);
  }
  const missing = Object.keys(required).find((name) => fields[name] === undefined);
  if (missing !== undefined) throw invalid(missing, 'is required');
  return fields as Record<Required, string> & Partial<Record<Optional, string>>;
}

function parseText(name: string, value: unknown, limit: number): string {
  if (typeof value !== 'string') throw invalid(name, 'must be a text');
  if (value.length > limit) throw invalid(name, `must have at most ${limit} characters`);
  // PostgreSQL has no NUL in texts. A query string and arguments of GraphQL may hold it.
  if (value.includes('\0')) throw invalid(name, 'must not have a NUL character');
  return value;
}
