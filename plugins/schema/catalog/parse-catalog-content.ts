/** The parsed result of the statement that reads the catalogs of PostgreSQL and the registry. */
export interface CatalogContent {
  readonly tables: readonly CatalogTable[];
  readonly foreignKeys: readonly ForeignKey[];
  readonly registry: {
    readonly collections: readonly RegistryRow[];
    readonly fields: readonly RegistryRow[];
    readonly relations: readonly RegistryRow[];
  };
}

/** A registry row: csv columns are text, json columns are values. */
export type RegistryRow = Readonly<Record<string, unknown>>;

export interface CatalogTable {
  readonly schema: string;
  readonly name: string;
  /** `pg_class.relkind`: r, p, v, m or f. */
  readonly kind: string;
  readonly comment: string | null;
  /** Triggers, rules, partitions or child tables: a write may change more than its statement names. */
  readonly hasSideEffects: boolean;
  readonly columns: CatalogColumn[];
  readonly indexes: CatalogIndex[];
}

/** An index that is valid and not partial. */
export interface CatalogIndex {
  readonly primary: boolean;
  readonly unique: boolean;
  /** Names of the indexed columns; null for an expression. */
  readonly columns: readonly (string | null)[];
}

export interface CatalogType {
  /** Name of the type, of the elements' type for arrays, of the base type for domains. */
  readonly type: string;
  readonly builtin: boolean;
  /** `pg_type.typtype`: b base, e enum, c composite, r range, m multirange, p pseudo. */
  readonly kind: string;
  readonly array: boolean;
  readonly sqlType: string;
  readonly dataType: string;
  /** The type with its modifier: `geometry(Point,4326)`. */
  readonly full: string;
  readonly typmod: number;
  readonly enum: readonly string[] | null;
  /** The type of the bounds of a range or a multirange. */
  readonly bound: RangeBoundType | null;
}

export interface RangeBoundType {
  readonly type: string;
  readonly builtin: boolean;
  readonly sqlType: string;
  readonly dataType: string;
}

export interface CatalogColumn extends CatalogType {
  readonly name: string;
  readonly nullable: boolean;
  readonly default: string | null;
  readonly generation: string | null;
  readonly identity: string;
  readonly comment: string | null;
}

export interface ForeignKey {
  readonly name: string;
  readonly from: CatalogTable;
  readonly columns: readonly string[];
  readonly to: CatalogTable;
  /** The referenced columns: as many as `columns`, in the same order. */
  readonly toColumns: readonly string[];
  readonly onUpdate: string;
  readonly onDelete: string;
  /** `pg_constraint.convalidated`: whether PostgreSQL checked all rows. */
  readonly isValidated: boolean;
}

type TypeRow = [string, boolean, string, boolean, string, string, string, number, string[] | null, BoundRow | null];
type BoundRow = [string, boolean, string, string];
type TableRow = [string, string, string, string | null, boolean];
type ColumnRow = [number, string, number, boolean, string | null, string | null, string, string | null];
type IndexRow = [number, boolean, boolean, (string | null)[]];
type KeyRow = [string, number, string[], number, string[], string, string, boolean];

interface RawContent {
  readonly types: readonly TypeRow[] | null;
  readonly tables: readonly TableRow[] | null;
  readonly columns: readonly ColumnRow[] | null;
  readonly indexes: readonly IndexRow[] | null;
  readonly keys: readonly KeyRow[] | null;
  readonly registry: { readonly [K in keyof CatalogContent['registry']]: readonly RegistryRow[] | null };
}

export function parseCatalogContent(text: string): CatalogContent {
  const raw = JSON.parse(text) as RawContent;
  const types = (raw.types ?? []).map(
    ([type, builtin, kind, array, sqlType, dataType, full, typmod, values, bound]): CatalogType => ({
      type,
      builtin,
      kind,
      array,
      sqlType,
      dataType,
      full,
      typmod,
      enum: values,
      bound: bound && { type: bound[0], builtin: bound[1], sqlType: bound[2], dataType: bound[3] },
    }),
  );
  const tables = (raw.tables ?? []).map(
    ([schema, name, kind, comment, hasSideEffects]): CatalogTable => ({
      schema,
      name,
      kind,
      comment,
      hasSideEffects,
      columns: [],
      indexes: [],
    }),
  );
  const table = (at: number) => tables[at] as CatalogTable;
  for (const [at, name, type, nullable, fallback, generation, identity, comment] of raw.columns ?? []) {
    const known = types[type] as CatalogType;
    table(at).columns.push({ ...known, name, nullable, default: fallback, generation, identity, comment });
  }
  for (const [at, primary, unique, columns] of raw.indexes ?? []) table(at).indexes.push({ primary, unique, columns });
  return {
    tables,
    foreignKeys: (raw.keys ?? []).map(([name, from, columns, to, toColumns, onUpdate, onDelete, isValidated]) => ({
      name,
      from: table(from),
      columns,
      to: table(to),
      toColumns,
      onUpdate,
      onDelete,
      isValidated,
    })),
    registry: {
      collections: raw.registry.collections ?? [],
      fields: raw.registry.fields ?? [],
      relations: raw.registry.relations ?? [],
    },
  };
}
