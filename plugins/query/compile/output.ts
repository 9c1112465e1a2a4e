import { quoteLiteral } from '../../database/library.ts';
import type { Column, Field } from '../../schema/contract.ts';
import type { ColumnOutputFormat } from '../selection.ts';
import { fieldColumnSql } from './compilation-state.ts';

/** The text that answers show instead of a concealed value. */
export const CONCEALED_VALUE_MASK = '**********';

/**
 * SQL of a field of the row `alias` as revisions store it: as answers show it, but JSON that `jsonb` refuses as its text. Otherwise
 * one such value would keep the whole revision from conditions on paths inside of it.
 */
export function fieldRevisionOutputSql(alias: string, field: Field): string {
  const column = fieldColumnSql(alias, field);
  const shown = valueOutputSql(column, field);
  const { array, element, dataType } = field.column ?? {};
  if (field.type !== 'json' || field.concealed || (array ? element?.dataType : dataType) === 'jsonb') return shown;
  // The text of an array doubles the backslashes of its elements.
  const text = array ? `to_json(${column})::text` : `${column}::text`;
  return `case when ${isInvalidJsonbSql(text)} then to_json(${text}) else to_json(${shown}) end`;
}

/** SQL of whether `jsonb` refuses this JSON text, as it does NUL and unpaired surrogates. */
export const isInvalidJsonbSql = (text: string): string =>
  `strpos(${text}, e'\\\\u') > 0 and regexp_replace(${text}, ${VALID_ESCAPES}, '', 'gi') ~* e'\\\\\\\\u(0000|d[89a-f])'`;

/** SQL pattern of the valid escapes in a JSON text: escaped backslashes and surrogate pairs. */
const VALID_ESCAPES = `e'\\\\\\\\\\\\\\\\|\\\\\\\\ud[89ab][0-9a-f]{2}\\\\\\\\ud[c-f][0-9a-f]{2}'`;

/**
 * SQL of a value as answers show it (conventions, "Value formats"): timestamps as UTC text, 64-bit integers and decimals as text,
 * concealed values as the mask. PostgreSQL formats, so that the service passes its JSON through. Infinity is shown as its text.
 */
export function valueOutputSql(value: string, field: Field): string {
  if (field.concealed || field.type === 'hash')
    return `case when ${value} is null then null else '${CONCEALED_VALUE_MASK}' end`;
  if (field.column?.array) return arrayOutputSql(value, field.column);
  switch (field.type) {
    case 'timestamp':
      return `coalesce(${field.column?.primary ? exactUtcTextSql(value) : utcTextSql(value)}, ${value}::text)`;
    case 'dateTime':
      if (field.column?.primary) return `coalesce(${exactDateTimeTextSql(value)}, ${value}::text)`;
      return `coalesce(to_char(${value}, 'YYYY-MM-DD"T"HH24:MI:SS'), ${value}::text)`;
    case 'time':
      return field.column?.dataType.includes('with time zone') ? `${value}::text` : `to_char(${value}, 'HH24:MI:SS')`;
    case 'bigInteger':
    case 'decimal':
    case 'unknown':
      return `${value}::text`;
    case 'binary':
      return base64Sql(value);
    case 'csv':
      return `case when ${value} = '' then '[]'::json else to_json(string_to_array(${value}, ',')) end`;
    case 'json':
      // A text column may be declared to hold JSON (special `cast-json`).
      return field.column?.dataType.startsWith('json') ? value : `${value}::json`;
    default:
      return field.type.startsWith('geometry') ? `ST_AsGeoJSON(${value})::json` : value;
  }
}

/**
 * SQL of a value in the format that a selection requests: a number, a text or the label of an enum value. Concealed values stay
 * masked, and arrays have no text format.
 */
export function valueOutputSqlInFormat(value: string, field: Field, format: ColumnOutputFormat | undefined): string {
  if (format === 'number' && isNumericField(field)) return jsonNumberSql(value, field);
  if (typeof format === 'object' && !field.concealed && field.column?.enumValues)
    return field.column.array ? labelListSql(value, format.labels) : labelSql(value, format.labels);
  const shown = valueOutputSql(value, field);
  return format === 'text' && !field.column?.array ? `${shown}::text` : shown;
}

const labelSql = (value: string, labels: ReadonlyMap<string, string>): string =>
  `case ${value}::text ${[...labels].map(([text, label]) => `when ${quoteLiteral(text)} then ${quoteLiteral(label)}`).join(' ')} else ${value}::text end`;

/** The labels of the values of an enum array. Nested arrays are not typed in GraphQL, so they keep their values. */
const labelListSql = (value: string, labels: ReadonlyMap<string, string>): string =>
  `case when array_ndims(${value}) = 1 then to_json(array(select ${labelSql('e', labels)} from unnest(${value}) e)) else to_json(${value}) end`;

/** Whether the values of the field are numbers, also when answers show them as texts. */
export const isNumericField = ({ type, concealed, column }: Field): boolean =>
  !concealed && !column?.array && ['integer', 'bigInteger', 'decimal', 'float'].includes(type);

/** SQL of a value as a JSON number, also for types that answers show as text; null for NaN and infinity. */
export const jsonNumberSql = (value: string, { type }: Field): string =>
  type === 'decimal' || type === 'float' ? `case when ${value} - ${value} = 0 then ${value} end` : value;

const utcTextSql = (moment: string): string => `to_char(${moment} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

// Timestamps of primary keys show microseconds that are not zero, since clients read the row again by this text.
const exactUtcTextSql = (moment: string): string =>
  `regexp_replace(to_char(${moment} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '000Z$', 'Z')`;
const exactDateTimeTextSql = (moment: string): string =>
  `regexp_replace(to_char(${moment}, 'YYYY-MM-DD"T"HH24:MI:SS.US'), '\\.?0*$', '')`;

/** Base64 without the line breaks that PostgreSQL inserts after 76 characters. */
const base64Sql = (bytes: string): string => `translate(encode(${bytes}, 'base64'), e'\\n', '')`;

/** SQL of an array as answers show it: elements like fields of their type, nested arrays as `to_json` shows them. */
function arrayOutputSql(value: string, { element }: Column): string {
  const each = (one: string) =>
    `case when array_ndims(${value}) > 1 then to_json(${value}) when ${value} is not null then to_json(array(select ${one} from unnest(${value}) e)) end`;
  switch (element?.type) {
    case 'bigInteger':
    case 'decimal':
    case 'unknown':
      return `${value}::text[]`;
    case 'timestamp':
      return each(`coalesce(${utcTextSql('e')}, e::text)`);
    case 'binary':
      return each(base64Sql('e'));
    default:
      return value;
  }
}
