import type { ElementType, FieldType } from '../contract.ts';
import type { CatalogColumn, RangeBoundType } from './parse-catalog-content.ts';

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

/** The field type of a column without a registry row. */
export const toFieldType = (column: CatalogColumn): FieldType => (column.array ? 'json' : toValueType(column));

/** The type of array elements, or of the bounds of a range or a multirange; undefined for other types. */
export function toElementType(column: CatalogColumn): ElementType | undefined {
  const { array, bound, sqlType, dataType } = column;
  if (array) return { type: toValueType(column), sqlType: sqlType.slice(0, -'[]'.length), dataType };
  return bound ? { type: toBuiltinType(bound), sqlType: bound.sqlType, dataType: bound.dataType } : undefined;
}

function toValueType(column: CatalogColumn): FieldType {
  if (column.kind === 'e') return 'string';
  if (column.builtin) return toBuiltinType(column);
  if (column.type === 'citext') return 'string';
  if (column.type === 'geometry' || column.type === 'geography') {
    const shape = /\(([A-Za-z]+?)(?:ZM?|M)?[,)]/.exec(column.full)?.[1];
    return shape && GEOMETRIES.includes(shape) ? (`geometry.${shape}` as FieldType) : 'geometry';
  }
  return 'unknown';
}

const toBuiltinType = ({ type, builtin }: Pick<RangeBoundType, 'type' | 'builtin'>): FieldType =>
  (builtin && Object.hasOwn(BUILTIN, type) ? BUILTIN[type] : undefined) ?? 'unknown';
