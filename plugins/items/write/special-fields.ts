import { randomUUID } from 'node:crypto';
import type { Caller } from '#kernel';
import { CONCEALED_VALUE_MASK } from '../../query/contract.ts';
import { keyColumns } from '../../query/library.ts';
import type { Collection, Field } from '../../schema/contract.ts';
import type { Payload } from '../contract.ts';

/**
 * Values that the platform writes (conventions, "special flags"): ids, dates, users and roles on the action they belong
 * to, in place of what the client sends. `hash` fields are hashed.
 */
export async function withGeneratedValues(
  collection: Collection,
  action: 'create' | 'update',
  payload: Payload,
  caller: Caller,
  hash: (text: string, caller: Caller) => Promise<string>,
): Promise<Payload> {
  const written: Payload = { ...payload };
  const fields = specialFieldsOf(collection);
  if (action === 'create') dropEmptyKey(collection, written);
  if (fields.length === 0) return written;
  const now = new Date().toISOString();
  const verb = action === 'create' ? 'created' : 'updated';
  for (const field of fields) {
    // A form sends the mask back for a value that it never received; it is no new value, not even in a copy of a row.
    // An empty text has no hash and would delete the stored one.
    if (field.concealed && written[field.name] === CONCEALED_VALUE_MASK) delete written[field.name];
    if (field.special.includes('hash') && written[field.name] === '') delete written[field.name];
    if (action === 'update' && isSetOnCreateOnly(collection, field)) delete written[field.name];
    if (field.special.includes(`date-${verb}`)) written[field.name] = now;
    if (field.special.includes(`user-${verb}`)) written[field.name] = caller.user;
    if (field.special.includes(`role-${verb}`)) written[field.name] = caller.role;
    const value = written[field.name];
    if (
      action === 'create' &&
      field.special.includes('uuid') &&
      (value === undefined || value === null || value === '')
    ) {
      written[field.name] = randomUUID();
    }
    if (field.special.includes('hash') && typeof value === 'string') written[field.name] = await hash(value, caller);
  }
  return written;
}

const known = new WeakMap<Collection, readonly Field[]>();

/** The columns with a special flag, looked up for each row of a batch: kept as long as the schema snapshot. */
function specialFieldsOf(collection: Collection): readonly Field[] {
  let fields = known.get(collection);
  if (!fields) {
    fields = [...collection.fields.values()].filter(({ column, special }) => column && special.length > 0);
    known.set(collection, fields);
  }
  return fields;
}

/** Only the service sets the creator and the creation date of system rows; values of the client are ignored. */
const isSetOnCreateOnly = ({ system }: Collection, { special, meta }: Field): boolean =>
  system && meta?.system === true && (special.includes('date-created') || special.includes('user-created'));

/** An object without a key creates a row (specification, "Relational write shapes"), and null is no key. */
function dropEmptyKey(collection: Collection, written: Payload): void {
  for (const { name, column } of keyColumns(collection)) {
    const isMade = column?.default || column?.identityAlways || column?.autoIncrement;
    if (isMade && written[name] === null) delete written[name];
  }
}
