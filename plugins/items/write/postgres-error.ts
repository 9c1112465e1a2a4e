import type { Collection, Field } from '../../schema/contract.ts';

/** What PostgreSQL says when it refuses a statement. `detail`, and often `message`, hold values: neither is ever passed on. */
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

/** Which field a parameter, counted from 1, is a value of. */
export type FieldOfParam = (param: number) => Field | undefined;

/**
 * Made by a statement inside of ours: a trigger's, or that of a foreign key that cascades. What it names are columns and
 * values of rows that the caller may not know.
 */
export const isFromNestedStatement = ({ where }: PostgresError): boolean => /^(SQL|PL\/)/m.test(where ?? '');

export const fieldOfColumn = (collection: Collection, column: string | undefined): Field | undefined =>
  column === undefined ? undefined : [...collection.fields.values()].find((field) => field.column?.name === column);

/** `unnamed portal parameter $2 = '...'`: the field whose value its type could not be made of. */
export const fieldOfParameterContext = ({ where }: PostgresError, field: FieldOfParam): Field | undefined =>
  field(Number(/\$(\d+)(?: = |$)/m.exec(where ?? '')?.[1] ?? 0));

/** Columns and values of a key, as PostgreSQL writes them. Only for comparing: values never leave this folder. */
export interface ErrorKey {
  readonly columns: readonly string[];
  readonly value: string;
}

const KEY_COLUMNS = /^[^(]*\((?:lower\()?"?([^)"]+?)"?(?:::text)?\)*$/;

/** `Key (email)=(a@b.c) already exists.`: the only place where PostgreSQL says which columns and values it was. */
export function parseKeyDetail({ detail = '' }: PostgresError, collection: Collection): ErrorKey | undefined {
  // The value is the client's, and as long as he likes: no expression searches it.
  const at = detail.indexOf('=(');
  const [, list] = at < 0 ? [] : (KEY_COLUMNS.exec(detail.slice(0, at)) ?? []);
  if (list === undefined) return undefined;
  const value = detail.slice(at + 2, detail.lastIndexOf(')'));
  return { columns: fieldOfColumn(collection, list) ? [list] : list.split(', '), value };
}

/**
 * The fields of the key that may be named. PostgreSQL names all columns of a pair, and those that the database fills, so only
 * what the statement itself writes is repeated.
 */
export function nameableKeyFields(
  { code }: PostgresError,
  key: ErrorKey | undefined,
  collection: Collection,
  written: ReadonlySet<Field>,
): readonly Field[] {
  const { columns = [] } = key ?? {};
  const isNameable = (field: Field): boolean => {
    if (field.name === collection.primary) return true;
    if (written.size > 0) return written.has(field);
    // A delete or a commit, of which nothing is known here: what others refer to by it may be any column of the row.
    return columns.length === 1 && (code === '23505' || field.relation?.kind === 'one');
  };
  return columns.flatMap((column) => fieldOfColumn(collection, column) ?? []).filter(isNameable);
}
