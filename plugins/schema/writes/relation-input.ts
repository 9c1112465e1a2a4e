import { createInvalidPayloadFailure, ownPayloadMember, type Payload } from './payload.ts';

const REFERENTIAL_ACTIONS: readonly string[] = ['NO ACTION', 'SET NULL', 'CASCADE', 'RESTRICT', 'SET DEFAULT'];

/** Parses `on_delete` or `on_update` into SQL. @throws INVALID_PAYLOAD */
export function parseReferentialAction(
  schema: Payload | null | undefined,
  key: 'on_delete' | 'on_update',
): string | undefined {
  const value = schema ? ownPayloadMember(schema, key) : undefined;
  if (value === undefined || value === null) return undefined;
  const rule = String(value).toUpperCase();
  if (!REFERENTIAL_ACTIONS.includes(rule))
    throw createInvalidPayloadFailure(`"${key}" must be one of ${REFERENTIAL_ACTIONS.join(', ')}.`);
  return rule;
}

export function parseRequiredText(payload: Payload, key: string): string {
  const value = ownPayloadMember(payload, key);
  if (typeof value !== 'string' || value === '') throw createInvalidPayloadFailure(`"${key}" is required.`);
  return value;
}
