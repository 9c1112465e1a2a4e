import type { Column } from '../contract.ts';
import { toElementType } from './column-type.ts';
import type { CatalogColumn, CatalogTable } from './parse-catalog-content.ts';

/** Precision as in `information_schema`: binary digits of integers and floats, decimal digits of numeric. */
const PRECISION: Readonly<Record<string, number>> = { int2: 16, int4: 32, int8: 64, float4: 24, float8: 53 };

/** Converts a catalog column to a `Column` of the contract. */
export function toSchemaColumn(column: CatalogColumn, table: CatalogTable): Column {
  const { name, type, builtin, array, typmod } = column;
  const singleColumnIndexes = table.indexes.filter(({ columns }) => columns.length === 1 && columns[0] === name);
  const hasSize = builtin && !array;
  const element = toElementType(column);
  const isSizedNumeric = hasSize && type === 'numeric' && typmod >= 4;
  return {
    name,
    sqlType: column.sqlType,
    dataType: array ? 'ARRAY' : column.dataType,
    nullable: column.nullable,
    default: column.default,
    generated: column.generation !== null,
    generationExpression: column.generation,
    autoIncrement: column.identity !== '' || column.default?.startsWith('nextval(') === true,
    identityAlways: column.identity === 'a',
    maxLength: hasSize && (type === 'varchar' || type === 'bpchar') && typmod >= 4 ? typmod - 4 : null,
    precision: isSizedNumeric ? ((typmod - 4) >> 16) & 0xffff : hasSize ? (PRECISION[type] ?? null) : null,
    // A signed number of eleven bits: PostgreSQL 15 and later allow negative scales.
    scale: isSizedNumeric
      ? (((typmod - 4) & 0x7ff) ^ 1024) - 1024
      : hasSize && type.startsWith('int') && type in PRECISION
        ? 0
        : null,
    unique: singleColumnIndexes.some(({ unique }) => unique),
    indexed: table.indexes.some(({ columns, unique }) => !unique && columns[0] === name),
    leadsIndex: table.indexes.some(({ columns }) => columns[0] === name),
    primary: table.indexes.some(({ columns, primary }) => primary && columns.includes(name)),
    array,
    ...(element ? { element } : {}),
    enumValues: column.enum,
    comment: column.comment,
  };
}
