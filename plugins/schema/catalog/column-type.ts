import type { FieldType } from '../contract.ts';
import type { CatalogColumn } from './content.ts';

const BUILTIN: Readonly<Record<string, FieldType>> = {
  int2: 'integer',
  int4: 'integer',
  int8: 'bigInteger',
  numeric: 'decimal',
  float4: 'float',
  float8: 'float',
  bool: 'boolean',
  uuid: 'uuid',
  date: 'date',
  timestamp: 'dateTime',
  timestamptz: 'timestamp',
  time: 'time',
  timetz: 'time',
  bytea: 'binary',
  bpchar: 'string',
  varchar: 'string',
  name: 'string',
  text: 'text',
  json: 'json',
  jsonb: 'json',
};

const GEOMETRIES: readonly string[] = [
  'Point',
  'LineString',
  'Polygon',
  'MultiPoint',
  'MultiLineString',
  'MultiPolygon',
];

/** The field type a column has by itself; undefined for search vectors, which are no data and left out. */
export function columnType(column: CatalogColumn): FieldType | undefined {
  if (column.builtin && (column.type === 'tsvector' || column.type === 'tsquery')) return undefined;
  if (column.array) return 'json';
  if (column.kind === 'e') return 'string';
  if (column.builtin) return (Object.hasOwn(BUILTIN, column.type) ? BUILTIN[column.type] : undefined) ?? 'unknown';
  if (column.type === 'citext') return 'string';
  if (column.type === 'geometry' || column.type === 'geography') {
    const shape = /\(([A-Za-z]+?)(?:ZM?|M)?[,)]/.exec(column.full)?.[1];
    return shape && GEOMETRIES.includes(shape) ? (`geometry.${shape}` as FieldType) : 'geometry';
  }
  return 'unknown';
}
