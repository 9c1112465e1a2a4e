import type { Collection, Field } from '../../schema/contract.ts';
import type { ValidationError } from './validate-row.ts';

/** Values of `special` that mark a field whose value the service sets itself. */
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

const known = new WeakMap<Collection, readonly Field[]>();

/**
 * Fields that cannot be null and that the client must fill, cached per collection of a schema snapshot, since every row of a
 * batch needs them.
 */
function requiredFieldsOf(collection: Collection): readonly Field[] {
  let fields = known.get(collection);
  if (!fields) {
    fields = [...collection.fields.values()].filter((field) => !isFilled(field) && field.column?.nullable === false);
    known.set(collection, fields);
  }
  return fields;
}

/** Errors of columns that cannot be null: null values, and on create missing values without a default. */
export function validateNotNullColumns(
  collection: Collection,
  action: 'create' | 'update',
  row: Record<string, unknown>,
): readonly ValidationError[] {
  const required = requiredFieldsOf(collection);
  if (required.length === 0) return [];
  const behind = columnsBehindObjects(collection, row);
  return required.flatMap((field): readonly ValidationError[] => {
    if (behind.has(field)) return [];
    const submitted = Object.hasOwn(row, field.name) ? row[field.name] : undefined;
    // A key of null on create counts as missing when the database generates keys.
    const value = submitted === null && action === 'create' && hasDefaultKey(field) ? undefined : submitted;
    if (value === null) return [{ path: [field.name], type: 'nnull' }];
    const missing = value === undefined && action === 'create' && field.column?.default === null;
    return missing ? [{ path: [field.name], type: 'required' }] : [];
  });
}

/** Columns of composite foreign keys whose related row is an object of the payload: their values are known after that row is written. */
const columnsBehindObjects = ({ compositeForeignKeys }: Collection, row: Record<string, unknown>): ReadonlySet<Field> =>
  new Set(compositeForeignKeys.flatMap(({ name, parts }) => (row[name] ? (parts ?? []) : [])));

/** Whether a created row has null in a field that the payload does not have. */
export const createIsNullByDefault =
  (collection: Collection) =>
  (name: string): boolean => {
    const field = collection.fields.get(name);
    return (field?.parts ?? [field]).some((one) => one?.column && !isFilled(one) && one.column.default === null);
  };
