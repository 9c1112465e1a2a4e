import type { Collection, Field } from '../../schema/contract.ts';

/** What PostgreSQL says when it refuses a statement. */
export interface Complaint {
  readonly code: string;
  readonly message: string;
  readonly detail?: string;
  readonly column?: string;
  readonly constraint?: string;
  readonly where?: string;
}

export const isComplaint = (error: unknown): error is Complaint =>
  error instanceof Error && /^[0-9A-Z]{5}$/.test((error as { code?: string }).code ?? '') && 'severity' in error;

/** Which field a parameter, counted from 1, is a value of. */
export type FieldOfParam = (param: number) => Field | undefined;

/** What a complaint is about, as far as the caller has said it himself. */
export interface Named {
  readonly field: string | null;
  readonly value?: string | null;
}

/**
 * Made by a statement inside of ours: a trigger's, or that of a foreign key that cascades. What it names are columns and
 * values of rows that the caller may not know.
 */
export const isFromInside = ({ where }: Complaint): boolean => /^(SQL|PL\/)/m.test(where ?? '');

export const fieldOf = (collection: Collection, column: string | undefined): string | null =>
  column === undefined ? null : (fieldWith(collection, column)?.name ?? column);

const fieldWith = (collection: Collection, column: string): Field | undefined =>
  [...collection.fields.values()].find((field) => field.column?.name === column);

/** `unnamed portal parameter $2 = '...'`: a value that its type could not be made of. */
export function paramOf({ where, message }: Complaint, params: readonly unknown[], field: FieldOfParam): Named {
  const param = Number(/\$(\d+)(?: = |$)/m.exec(where ?? '')?.[1] ?? 0);
  const name = field(param)?.name;
  if (name === undefined) return { field: null };
  const parameter = params[param - 1];
  // Of an array, the element that PostgreSQL quotes in its message.
  const value = Array.isArray(parameter)
    ? parameter.find((element) => message.includes(`"${element}"`))
    : (parameter ?? '');
  return { field: name, ...(value === undefined ? {} : { value: String(value).slice(0, 255) }) };
}

/**
 * `Key (email)=(a@b.c) already exists.`: the only place where PostgreSQL says which column and value it was. It says so
 * of all columns of a pair, and of those that the database fills, so only what the statement itself writes is repeated.
 */
export function keyOf(
  { code, detail }: Complaint,
  collection: Collection,
  params: readonly unknown[],
  field: FieldOfParam,
): Named {
  const [, list, value] = /\((?:lower\()?"?([^)"]+?)"?(?:::text)?\)*\)?=\((.*)\)/.exec(detail ?? '') ?? [];
  if (list === undefined || value === undefined) return { field: null };
  const columns = fieldWith(collection, list) ? [list] : list.split(', ');
  const written = new Set(params.flatMap((_, at) => field(at + 1) ?? []));
  const isTold = (one: Field): boolean => {
    if (one.name === collection.primary) return true;
    if (written.size > 0) return written.has(one);
    // A delete or a commit, of which nothing is known here: what others refer to by it may be any column of the row.
    return columns.length === 1 && (code === '23505' || one.relation?.kind === 'one');
  };
  const own = columns.flatMap((column) => {
    const one = fieldWith(collection, column);
    return one && isTold(one) ? [one] : [];
  });
  return {
    field: own.length > 0 ? own.map(({ name }) => name).join(', ') : null,
    ...(own.length === columns.length && own.every(({ concealed }) => !concealed) ? { value } : {}),
  };
}
