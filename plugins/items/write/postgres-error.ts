import type { Collection, Field } from '../../schema/contract.ts';

/**
 * The error of PostgreSQL for a rejected statement. `detail`, and often `message`, contain values: neither may leave
 * this folder.
 */
export interface PostgresError {
  readonly code: string;
  readonly message: string;
  readonly detail?: string;
  readonly schema?: string;
  readonly table?: string;
  readonly column?: string;
  /** The name of a domain, in `schema`. */
  readonly dataType?: string;
  readonly constraint?: string;
  readonly where?: string;
}

export const isPostgresError = (error: unknown): error is PostgresError =>
  error instanceof Error && /^[0-9A-Z]{5}$/.test((error as { code?: string }).code ?? '') && 'severity' in error;

/** The field of a parameter's value; parameters are counted from 1. */
export type FieldOfStatementParam = (param: number) => Field | undefined;

/**
 * Whether a trigger or a cascading foreign key failed inside of our statement. The error then names columns and values
 * of rows that the caller may not know.
 */
export const isFromNestedStatement = ({ where }: PostgresError): boolean => /^(SQL|PL\/)/m.test(where ?? '');

export const fieldOfColumn = (collection: Collection, column: string | undefined): Field | undefined =>
  column === undefined ? undefined : [...collection.fields.values()].find((field) => field.column?.name === column);

/** `unnamed portal parameter $2 = '...'`: the field whose value is invalid for its type. */
export const fieldOfPostgresErrorContext = (
  { where }: PostgresError,
  field: FieldOfStatementParam,
): Field | undefined => field(Number(/\$(\d+)(?: = |$)/m.exec(where ?? '')?.[1] ?? 0));

/** Columns and values of a key, as PostgreSQL writes them. Only for comparison: values never leave this folder. */
export interface PostgresErrorKey {
  readonly columns: readonly string[];
  readonly value: string;
}

const KEY_COLUMNS = /^[^(]*\((?:lower\()?"?([^)"]+?)"?(?:::text)?\)*$/;

/** `Key (email)=(a@b.c) already exists.`: only the detail contains the columns and values. */
export function parsePostgresErrorKey(
  { detail = '' }: PostgresError,
  collection: Collection,
): PostgresErrorKey | undefined {
  // The value comes from the client and may be long, so no regular expression searches it.
  const at = detail.indexOf('=(');
  const [, list] = at < 0 ? [] : (KEY_COLUMNS.exec(detail.slice(0, at)) ?? []);
  if (list === undefined) return undefined;
  const value = detail.slice(at + 2, detail.lastIndexOf(')'));
  return { columns: fieldOfColumn(collection, list) ? [list] : list.split(', '), value };
}

/**
 * The fields of the key that an answer may name. PostgreSQL names all columns of a composite key, generated ones
 * included, so only fields that the statement writes are named.
 */
export function disclosableKeyFields(
  { code }: PostgresError,
  key: PostgresErrorKey | undefined,
  collection: Collection,
  written: ReadonlySet<Field>,
): readonly Field[] {
  const { columns = [] } = key ?? {};
  const isNameable = (field: Field): boolean => {
    if (field.name === collection.primary) return true;
    if (written.size > 0) return written.has(field);
    // For a delete or a commit the fields are unknown: the referenced columns may be any columns of the row.
    return columns.length === 1 && (code === '23505' || field.relation?.kind === 'one');
  };
  return columns.flatMap((column) => fieldOfColumn(collection, column) ?? []).filter(isNameable);
}
