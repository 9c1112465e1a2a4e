import type { Column, Field, FieldType } from '../contract.ts';
import { createInvalidPayloadFailure, ownPayloadMember, type Payload, parseIntegerPayloadMember } from './payload.ts';

/** Types of PostgreSQL without a length that a snapshot may name. */
const PLAIN_TYPES: readonly string[] = [
  'smallint',
  'integer',
  'bigint',
  'real',
  'double precision',
  'boolean',
  'uuid',
  'date',
  'timestamp without time zone',
  'timestamp with time zone',
  'time without time zone',
  'time with time zone',
  'bytea',
  'text',
  'json',
  'jsonb',
];

/** Expressions that a default of a snapshot may be. Any other could call any function as the database role of the service. */
const DEFAULT_EXPRESSION =
  /^(now\(\)|current_timestamp|current_date|current_time|localtimestamp|localtime|gen_random_uuid\(\)|uuidv[47]\(\))$/i;

/**
 * Renders the SQL type that the member `data_type` of a column in a snapshot names; undefined where there is no such member, and for
 * geometry.
 * @throws INVALID_PAYLOAD for a type that this service does not create, such as an array or an enum
 */
export function renderExactColumnType(type: FieldType, schema: Payload): string | undefined {
  const dataType = ownPayloadMember(schema, 'data_type');
  if (dataType === undefined || dataType === null || type.startsWith('geometry')) return undefined;
  const length = parseIntegerPayloadMember(schema, 'max_length', 1, 10_485_760);
  if (dataType === 'character varying') return length === undefined ? 'varchar' : `varchar(${length})`;
  if (dataType === 'character') return `char(${length ?? 1})`;
  if (dataType === 'numeric') {
    const precision = parseIntegerPayloadMember(schema, 'numeric_precision', 1, 1000);
    const scale = parseIntegerPayloadMember(schema, 'numeric_scale', -1000, 1000);
    return precision === undefined ? 'numeric' : `numeric(${precision}, ${scale ?? 0})`;
  }
  if (typeof dataType === 'string' && PLAIN_TYPES.includes(dataType)) return dataType;
  throw createInvalidPayloadFailure(
    `Columns of the type "${String(dataType)}" are not created by this service: create the column by SQL.`,
  );
}

/** The SQL type of an existing column in the same form; undefined for types that this service does not create. */
export function renderCurrentColumnType(field: Field): string | undefined {
  const column = field.column as Column;
  try {
    return renderExactColumnType(field.type, {
      data_type: column.dataType,
      max_length: column.maxLength,
      numeric_precision: column.precision,
      numeric_scale: column.scale,
    });
  } catch {
    return undefined;
  }
}

/**
 * Renders a default that is an expression; undefined for a literal.
 * @throws INVALID_PAYLOAD for an expression that is not known to be harmless, and for a generated column
 */
export function renderExactDefault(name: string, type: FieldType, schema: Payload): string | undefined {
  if (typeof ownPayloadMember(schema, 'generation_expression') === 'string')
    throw createInvalidPayloadFailure(`Field "${name}" is computed by the database: create the column by SQL.`);
  const value = ownPayloadMember(schema, 'default_value');
  const isDefaultType = ['date', 'dateTime', 'timestamp', 'time', 'uuid'].includes(type);
  const isMarked = ownPayloadMember(schema, 'default_is_expression') === true;
  if (typeof value !== 'string' || !(isMarked || isDefaultType)) return undefined;
  if (DEFAULT_EXPRESSION.test(value)) return value;
  if (!isMarked) return undefined;
  throw createInvalidPayloadFailure(
    `The default of field "${name}" is an expression: set it by SQL (alter column … set default).`,
  );
}
