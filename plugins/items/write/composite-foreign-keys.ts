import { fail } from '#kernel';
import { parsePrimaryKeyValue, splitCompositeKey } from '../../query/library.ts';
import type { Collection, Field } from '../../schema/contract.ts';
import type { Payload } from '../contract.ts';
import { parseKeyValue } from '../find-collection-and-key.ts';
import { isPayload } from './to-many-value.ts';

/**
 * Replaces each composite foreign key of a payload that is a key or null by its columns. Where it is an object, that
 * row is written first and the columns are set afterwards.
 * @throws INVALID_PAYLOAD for an invalid key, and where the payload has another value for one of the columns.
 */
export function expandCompositeForeignKeys({ compositeForeignKeys }: Collection, payload: Payload): Payload {
  const keyFields = compositeForeignKeys.filter(
    ({ name }) => Object.hasOwn(payload, name) && !isPayload(payload[name]),
  );
  if (keyFields.length === 0) return payload;
  const names = keyFields.map(({ name }) => name);
  const written: Payload = Object.fromEntries(Object.entries(payload).filter(([name]) => !names.includes(name)));
  for (const field of keyFields)
    setForeignKeyColumns(field, buildForeignKeyColumns(field, payload[field.name]), written);
  return written;
}

/**
 * The columns of a composite foreign key with the values of a key. Null clears the nullable columns without another
 * relation.
 */
export function buildForeignKeyColumns(field: Field, value: unknown): Payload {
  const parts = field.parts ?? [];
  if (value === null) {
    const nullable = parts.filter(({ column }) => column?.nullable);
    const alone = nullable.filter(({ relation }) => relation === null);
    const cleared = alone.length > 0 ? alone : nullable.length > 0 ? nullable : parts;
    return Object.fromEntries(cleared.map(({ name }) => [name, null]));
  }
  const text = typeof value === 'string' || typeof value === 'number' ? parsePrimaryKeyValue(field, value) : undefined;
  if (text === undefined)
    throw fail('INVALID_PAYLOAD', `${field.name} must be a key of ${parts.length} parts, an object or null`, {
      field: field.name,
      path: [field.name],
    });
  const values = splitCompositeKey(String(text));
  // An empty text is no key by itself, but can be a part of one.
  return Object.fromEntries(
    parts.map((part, at) => [part.name, values[at] === '' ? '' : parseKeyValue(part, values[at])]),
  );
}

/**
 * Sets the columns of a composite foreign key.
 * @throws INVALID_PAYLOAD where a column already has another value, which the row rules were checked with.
 */
export function setForeignKeyColumns(field: Field, columns: Payload, written: Payload): void {
  for (const [name, value] of Object.entries(columns)) {
    if (Object.hasOwn(written, name) && value !== null && String(written[name]) !== String(value))
      throw fail('INVALID_PAYLOAD', `${name} has another value than ${field.name}`, { field: name, path: [name] });
    if (!Object.hasOwn(written, name)) written[name] = value;
  }
}
