import type { Field } from '../../schema/contract.ts';
import { MASK } from '../contract.ts';
import { columnOf } from './statement.ts';

/**
 * How a field reads (conventions, "Value formats"): timestamps as UTC text, 64-bit integers and decimals as text,
 * secrets as the mask. PostgreSQL formats, so the JSON it makes needs no second pass. `bare` is true where
 * `row_to_json` does the right thing with the column by itself.
 */
export function readExpression(alias: string, field: Field): string {
  const column = columnOf(alias, field);
  if (field.concealed || field.type === 'hash') return `case when ${column} is null then null else '${MASK}' end`;
  if (field.column?.array) return column;
  switch (field.type) {
    case 'timestamp':
      return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
    case 'dateTime':
      return `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS')`;
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
