import { Inexpressible } from '../../plugins/graphql/cases/entries.ts';
import type { Questions } from './graphql-reads.ts';
import { hasParts, isObject, keyColumn, keyColumns } from './keys.ts';
import type { Model, Payload } from './shapes.ts';
import type { Write } from './writing.ts';

export const BY_QUERY = 'a write to what a query finds';
export const DETAILED = 'lists of what to create, update and delete behind a relation';

/** A write in the words that inputs have: related rows are objects, in lists of objects, those to be linked with their key. */
export function writeInWords(questions: Questions, collection: string, write: Write): Write {
  const { sight } = questions;
  const payload = (action: 'create' | 'update') => (one: Payload) => {
    for (const field of Object.keys(one)) {
      // The key says which row is meant.
      const isKey = action === 'update' && sight.keyOf(collection).includes(field);
      if (!isKey && !sight.takes(collection, action, field)) questions.hidden = true;
    }
    return inWords(questions, collection, one);
  };
  switch (write.verb) {
    case 'create':
      if (!sight.creates(collection)) questions.hidden = true;
      return { ...write, rows: write.rows.map(payload('create')) };
    case 'update':
      if (!sight.changes(collection)) questions.hidden = true;
      return { ...write, data: payload('update')(write.data) };
    case 'update each':
      if (!sight.changes(collection)) questions.hidden = true;
      return { ...write, rows: write.rows.map(payload('update')) };
    case 'delete':
      if (sight.of(collection, 'delete').length === 0) questions.hidden = true;
      return write;
    default:
      throw new Inexpressible(BY_QUERY);
  }
}

function inWords(questions: Questions, collection: string, payload: Payload): Payload {
  const { model } = questions.sight;
  const { ones, manys } = model[collection] as Model[string];
  return Object.fromEntries(
    Object.entries(payload).map(([field, value]) => {
      if (manys[field]) return [field, listInWords(questions, manys[field].to, value)];
      return [field, ones[field] ? oneInWords(questions, ones[field], value) : value];
    }),
  );
}

function oneInWords(questions: Questions, to: string, value: unknown): unknown {
  const key = keyColumn(questions.sight.model[to] as Model[string]);
  if (value === null) return null;
  if (questions.sight.nests(to)) return isObject(value) ? nested(questions, to, value) : { [key]: value };
  if (!isObject(value)) return value;
  const isLink = Object.keys(value).length === 1 && value[key] !== undefined;
  if (!isLink) questions.hidden = true;
  return isLink ? value[key] : value;
}

function listInWords(questions: Questions, to: string, value: unknown): unknown {
  if (!questions.sight.nests(to)) questions.hidden = true;
  if (value === null) return null;
  if (!Array.isArray(value)) throw new Inexpressible(DETAILED);
  const model = questions.sight.model[to] as Model[string];
  return value.map((one) => nested(questions, to, isObject(one) ? one : keyColumns(model, one)));
}

/** What may be created or updated can be named, whichever of both it then is. */
function nested(questions: Questions, to: string, payload: Payload): Payload {
  const { sight } = questions;
  for (const field of Object.keys(payload)) {
    const isTaken =
      sight.keyOf(to).includes(field) || sight.takes(to, 'create', field) || sight.takes(to, 'update', field);
    if (!isTaken) questions.hidden = true;
  }
  return inWords(questions, to, payload);
}

/** A row in a list that is said by its key alone is linked: the same as the bare key. */
export function linksBare(questions: Questions, write: Write, collection: string): Write {
  const { model } = questions.sight;
  const bare = (name: string, payload: Payload): Payload => {
    const { ones, manys } = model[name] as Model[string];
    return Object.fromEntries(
      Object.entries(payload).map(([field, value]) => {
        const many = manys[field];
        if (many && Array.isArray(value)) return [field, value.map((one) => linked(many.to, bare(many.to, one)))];
        return [field, ones[field] && isObject(value) ? bare(ones[field], value) : value];
      }),
    );
  };
  const linked = (to: string, one: Payload): unknown => {
    const of = model[to] as Model[string];
    if (hasParts(of)) return one;
    const key = keyColumn(of);
    return Object.keys(one).length === 1 && one[key] !== undefined ? one[key] : one;
  };
  if ('rows' in write) return { ...write, rows: write.rows.map((row) => bare(collection, row)) };
  return 'data' in write ? { ...write, data: bare(collection, write.data) } : write;
}
