import type { JsonSchema } from '../../http/contract.ts';
import { anyOfSchema, enumSchema, listSchema } from '../../http/library.ts';
import type { Field, FieldType } from '../../schema/contract.ts';

/** JSON shows no such numbers, so that they are texts. */
const NO_NUMBERS = enumSchema('NaN', 'Infinity', '-Infinity');

/** Values of columns as answers have them (conventions, "Value formats"). Types that are missing are texts. */
const ANSWERED: Partial<Readonly<Record<FieldType, JsonSchema>>> = {
  bigInteger: { type: 'string', description: 'A whole number of up to 64 bits, as a text.' },
  boolean: { type: 'boolean' },
  csv: listSchema({ type: 'string' }),
  date: { type: 'string', description: 'A date: `2026-01-31`.' },
  dateTime: { type: 'string', description: 'A date and a time without a time zone: `2026-01-31T13:30:00`.' },
  decimal: { type: 'string', description: 'A decimal number, as a text.' },
  float: anyOfSchema({ type: 'number' }, NO_NUMBERS),
  integer: { type: 'integer' },
  json: {},
  time: { type: 'string', description: 'A time: `13:30:00`.' },
  timestamp: { type: 'string', description: 'A moment in UTC: `2026-01-31T13:30:00.000Z`.' },
  binary: { type: 'string', contentEncoding: 'base64' },
};

/** Values that writes take besides, or in other forms. */
const SENT: Partial<Readonly<Record<FieldType, JsonSchema>>> = {
  bigInteger: { type: ['string', 'integer'] },
  decimal: { type: ['string', 'number'] },
  float: { type: ['number', 'string'] },
  csv: { type: ['array', 'string'], items: { type: 'string' } },
};

/** The schema of a field's value, without null: in answers, or in bodies of requests. */
export function valueSchema(field: Field, direction: 'answered' | 'sent'): JsonSchema {
  const { column, type } = field;
  if (field.concealed || type === 'hash')
    return { type: 'string', description: 'Answers show a mask in the place of the value.' };
  if (column?.array) return { type: 'array', items: enumOf(column.enumValues) ?? {} };
  const values = enumOf(column?.enumValues);
  if (values) return values;
  if (type.startsWith('geometry'))
    return { type: 'object', description: 'A GeoJSON geometry: an object with `type` and `coordinates`.' };
  if (type === 'uuid') return { type: 'string', format: 'uuid' };
  return (direction === 'sent' ? SENT[type] : undefined) ?? ANSWERED[type] ?? { type: 'string' };
}

const enumOf = (values: readonly string[] | null | undefined): JsonSchema | undefined =>
  values && values.length > 0 ? enumSchema(...values) : undefined;

/** Adds null to a schema, in the short form where it has one type. */
export function withNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values, anyOf } = schema;
  if (Object.keys(schema).length === 0) return schema;
  if (Array.isArray(values)) return { ...schema, type: [type, 'null'], enum: [...values, null] };
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: 'null' }] };
  if (Array.isArray(type)) return { ...schema, type: [...type, 'null'] };
  return typeof type === 'string' ? { ...schema, type: [type, 'null'] } : anyOfSchema(schema, { type: 'null' });
}
