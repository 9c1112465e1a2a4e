import type { Field } from '../../schema/contract.ts';
import { MASK } from '../contract.ts';
import { columnOf } from './statement.ts';

/**
 * How a field reads (conventions, "Value formats"): timestamps as UTC text, 64-bit integers and decimals as text,
 * secrets as the mask. PostgreSQL formats, so the JSON it makes needs no second pass. Only infinity has no format: it
 * is its own text.
 */
export function readExpression(alias: string, field: Field): string {
  const column = columnOf(alias, field);
  if (field.concealed || field.type === 'hash') return `case when ${column} is null then null else '${MASK}' end`;
  if (field.column?.array) return listExpression(column, field.column.sqlType);
  switch (field.type) {
    case 'timestamp':
      return `coalesce(${UTC(column)}, ${column}::text)`;
    case 'dateTime':
      return `coalesce(to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS'), ${column}::text)`;
    case 'time':
      return field.column?.dataType.includes('with time zone') ? `${column}::text` : `to_char(${column}, 'HH24:MI:SS')`;
    case 'bigInteger':
    case 'decimal':
    case 'unknown':
      return `${column}::text`;
    case 'csv':
      return `case when ${column} = '' then '[]'::json else to_json(string_to_array(${column}, ',')) end`;
    case 'json':
      // A text column may be declared to hold JSON (special `cast-json`).
      return field.column?.dataType.startsWith('json') ? column : `${column}::json`;
    default:
      return field.type.startsWith('geometry') ? `ST_AsGeoJSON(${column})::json` : column;
  }
}

const UTC = (moment: string): string => `to_char(${moment} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Elements read like fields of their type do. */
function listExpression(column: string, sqlType: string): string {
  if (/^(bigint|numeric)\[/.test(sqlType)) return `${column}::text[]`;
  if (!sqlType.startsWith('timestamp with time zone')) return column;
  return `case when ${column} is not null then array(select coalesce(${UTC('e')}, e::text) from unnest(${column}) e) end`;
}
