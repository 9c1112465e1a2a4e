import type { CatalogTable } from '../catalog/parse-catalog-content.ts';
import type { Column, Field } from '../contract.ts';
import type { MutableFields } from './fields.ts';

/** How rows of a table are identified; the members are those of `Collection`. */
export interface TableKey {
  readonly primary: string | null;
  readonly key: Field | null;
  readonly hasKey: boolean;
}

export const NO_TABLE_KEY: TableKey = { primary: null, key: null, hasKey: false };

/**
 * Finds the key of a table: the primary key, else the first unique index over columns that are not null, else the row location.
 */
export function findTableKey(collection: string, table: CatalogTable, fields: MutableFields): TableKey {
  if (table.kind !== 'r' && table.kind !== 'p') return NO_TABLE_KEY;
  const parts = findKeyColumns(table, fields);
  if (!parts) return { primary: null, key: createRowLocationField(collection), hasKey: false };
  const [only] = parts as readonly [Field];
  return parts.length === 1
    ? { primary: only.name, key: only, hasKey: true }
    : {
        primary: null,
        key: createCompositeField(collection, parts.map(({ name }) => name).join(), parts),
        hasKey: true,
      };
}

/** A field whose value consists of several columns. */
export const createCompositeField = (collection: string, name: string, parts: readonly Field[]) => ({
  collection,
  name,
  type: 'string' as const,
  column: null,
  special: [],
  meta: null,
  concealed: false,
  sensitive: parts.some(({ sensitive }) => sensitive),
  relation: null,
  parts,
});

function findKeyColumns(table: CatalogTable, fields: MutableFields): readonly Field[] | undefined {
  for (const { primary, unique, columns } of table.indexes) {
    if (!primary && !unique) continue;
    const parts = columns.map((name) => (name === null ? undefined : fields.get(name)));
    if (parts.every((field) => field?.column && (primary || !field.column.nullable))) return parts as readonly Field[];
  }
  return undefined;
}

/** The row location consists of `tableoid` and `ctid`, since rows of different partitions may have the same `ctid`. */
const createRowLocationField = (collection: string): Field => ({
  ...createCompositeField(collection, 'ctid', [
    createSystemColumnField(collection, 'tableoid', 'oid'),
    createSystemColumnField(collection, 'ctid', 'tid'),
  ]),
  special: [ROW_LOCATION],
});

const ROW_LOCATION = 'row-place';

/** Whether this is the row location, the key of a table without a key. */
export const isRowLocationField = ({ special }: Field): boolean => special.includes(ROW_LOCATION);

const createSystemColumnField = (collection: string, name: string, sqlType: string): Field => {
  const column: Column = {
    name,
    sqlType,
    dataType: sqlType,
    nullable: false,
    default: null,
    generated: false,
    generationExpression: null,
    autoIncrement: false,
    identityAlways: false,
    maxLength: null,
    precision: null,
    scale: null,
    unique: false,
    indexed: false,
    leadsIndex: false,
    primary: false,
    array: false,
    enumValues: null,
    comment: null,
  };
  const { parts: _none, ...field } = createCompositeField(collection, name, []);
  return { ...field, type: 'unknown', column };
};
