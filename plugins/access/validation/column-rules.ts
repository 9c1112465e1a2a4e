import type { Collection, Field } from '../../schema/contract.ts';
import type { ValidationError } from './validate-row.ts';

/** Flags of fields that the platform fills. */
const FILLED_BY_PLATFORM = [
  'uuid',
  'date-created',
  'date-updated',
  'user-created',
  'user-updated',
  'role-created',
  'role-updated',
];

const isFilled = ({ column, special }: Field): boolean =>
  !column ||
  column.generated ||
  column.autoIncrement ||
  column.identityAlways ||
  special.some((flag) => FILLED_BY_PLATFORM.includes(flag));

const hasDefaultKey = ({ column }: Field): boolean => column?.primary === true && column.default !== null;

/** Columns that cannot be null: never null, and given on create where there is no default. */
export function validateColumns(
  collection: Collection,
  action: 'create' | 'update',
  row: Record<string, unknown>,
): readonly ValidationError[] {
  const behind = columnsBehindObjects(collection, row);
  return [...collection.fields.values()].flatMap((field): readonly ValidationError[] => {
    if (isFilled(field) || field.column?.nullable !== false || behind.has(field)) return [];
    const given = Object.hasOwn(row, field.name) ? row[field.name] : undefined;
    // A key of null is none: where the database makes keys, it makes this one.
    const value = given === null && action === 'create' && hasDefaultKey(field) ? undefined : given;
    if (value === null) return [{ path: [field.name], type: 'nnull' }];
    const missing = value === undefined && action === 'create' && field.column.default === null;
    return missing ? [{ path: [field.name], type: 'required' }] : [];
  });
}

/** Columns of foreign keys of several whose row comes as an object: they are its key, which is known once it is written. */
const columnsBehindObjects = ({ jointFields }: Collection, row: Record<string, unknown>): ReadonlySet<Field> =>
  new Set(jointFields.flatMap(({ name, parts }) => (row[name] ? (parts ?? []) : [])));

/** Would a created row hold null here if nothing is submitted? */
export const createIsNullByDefault =
  (collection: Collection) =>
  (name: string): boolean => {
    const field = collection.fields.get(name);
    return (field?.parts ?? [field]).some((one) => one?.column && !isFilled(one) && one.column.default === null);
  };
