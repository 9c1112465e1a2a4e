import { fail } from '#kernel';
import type { FieldType } from './contract.ts';

export interface ColumnTypeOptions {
  readonly maxLength?: number | null;
  readonly precision?: number | null;
  readonly scale?: number | null;
  /** The schema that PostGIS lives in, quoted. */
  readonly geometrySchema?: string | null;
}

/** The SQL type of a new column. @throws INVALID_PAYLOAD for `alias`, `unknown`, and geometry without PostGIS */
export function renderColumnType(
  type: FieldType,
  { maxLength, precision, scale, geometrySchema }: ColumnTypeOptions = {},
): string {
  switch (type) {
    case 'string':
      return `varchar(${maxLength ?? 255})`;
    case 'hash':
      return `varchar(${maxLength ?? 255})`;
    case 'text':
    case 'csv':
      return 'text';
    case 'integer':
      return 'integer';
    case 'bigInteger':
      return 'bigint';
    case 'float':
      return 'real';
    case 'decimal':
      return `numeric(${precision ?? 10}, ${scale ?? 5})`;
    case 'boolean':
      return 'boolean';
    case 'date':
      return 'date';
    case 'dateTime':
      return 'timestamp without time zone';
    case 'timestamp':
      return 'timestamp with time zone';
    case 'time':
      return 'time without time zone';
    case 'json':
      // jsonb has equality, and a search need not parse each row.
      return 'jsonb';
    case 'uuid':
      return 'uuid';
    case 'binary':
      return 'bytea';
    case 'alias':
    case 'unknown':
      throw fail('INVALID_PAYLOAD', `A column cannot have the type "${type}".`);
    default: {
      if (!geometrySchema) throw fail('INVALID_PAYLOAD', 'Geometry needs PostGIS, which this database does not have.');
      const shape = type.split('.')[1] ?? 'Geometry';
      return `${geometrySchema}.geometry(${shape}, 4326)`;
    }
  }
}
