/** What the catalog statement answers, parsed. */
export interface Content {
  readonly tables: readonly CatalogTable[] | null;
  readonly keys: readonly ForeignKey[] | null;
  readonly registry: {
    readonly collections: readonly Row[] | null;
    readonly fields: readonly Row[] | null;
    readonly relations: readonly Row[] | null;
  };
}

/** A registry row: csv columns are text, json columns are values. */
export type Row = Readonly<Record<string, unknown>>;

export interface CatalogTable {
  readonly schema: string;
  readonly name: string;
  /** `pg_class.relkind`: r, p, v, m or f. */
  readonly kind: string;
  readonly comment: string | null;
  readonly columns: readonly CatalogColumn[];
  readonly indexes: readonly { readonly columns: readonly (string | null)[]; readonly primary: boolean; readonly unique: boolean }[];
}

export interface CatalogColumn {
  readonly name: string;
  /** Name of the type, of the elements' type for arrays, of the base type for domains. */
  readonly type: string;
  readonly builtin: boolean;
  /** `pg_type.typtype`: b base, e enum, c composite, r range, m multirange, p pseudo. */
  readonly kind: string;
  readonly array: boolean;
  readonly sqlType: string;
  readonly dataType: string;
  /** With its modifier: `geometry(Point,4326)`. */
  readonly full: string;
  readonly typmod: number;
  readonly nullable: boolean;
  readonly default: string | null;
  readonly generation: string | null;
  readonly identity: '' | 'a' | 'd';
  readonly enum: readonly string[] | null;
  readonly comment: string | null;
}

export interface ForeignKey {
  readonly name: string;
  readonly schema: string;
  readonly table: string;
  readonly column: string;
  readonly toSchema: string;
  readonly toTable: string;
  readonly toColumn: string;
  readonly onUpdate: string;
  readonly onDelete: string;
}
