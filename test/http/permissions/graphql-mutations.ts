import { type DocumentEntry, type DocumentRoot, Variable } from '../../plugins/graphql/cases/entries.ts';
import type { ExpectedGraphqlSchema } from './expected-graphql-schema.ts';
import { parseKeyColumns } from './keys.ts';
import { MODEL, tableOf } from './model.ts';
import type { Model } from './reference-types.ts';
import type { Key, Write } from './reference-writes.ts';

/** The argument for the key of a row: a value, or the columns of a composite key where the schema of the person has them all. */
export const keyArgument = (visibleSchema: ExpectedGraphqlSchema, collection: string, key: unknown): unknown =>
  visibleSchema.hasKeyInput(collection) ? parseKeyColumns(MODEL[collection] as Model[string], key) : key;

/** The root field of a write, with its values in variables if `useVariables` is set. */
export function mutationOf(
  visibleSchema: ExpectedGraphqlSchema,
  collection: string,
  write: Write,
  of: readonly DocumentEntry[] | undefined,
  useVariables: boolean,
): DocumentRoot {
  const below = of ? { of } : {};
  const value = (type: string, data: unknown) => (useVariables ? new Variable(type, data) : data);
  const key = visibleSchema.hasKeyInput(collection) ? `${tableOf(collection)}_key_input` : 'ID';
  const keyOf = (one: Key) => keyArgument(visibleSchema, collection, one);
  const input = (kind: 'create' | 'update') => `${kind}_${tableOf(collection)}_input!`;
  switch (write.verb) {
    case 'create': {
      const [first] = write.rows;
      return write.rows.length === 1
        ? { field: `create_${collection}_item`, args: { data: value(input('create'), first) }, ...below }
        : { field: `create_${collection}_items`, args: { data: value(`[${input('create')}]!`, write.rows) }, ...below };
    }
    case 'update': {
      const data = value(input('update'), write.data);
      return write.keys.length === 1
        ? {
            field: `update_${collection}_item`,
            args: { id: value(`${key}!`, keyOf(write.keys[0] as Key)), data },
            ...below,
          }
        : {
            field: `update_${collection}_items`,
            args: { ids: value(`[${key}]!`, write.keys.map(keyOf)), data },
            ...below,
          };
    }
    case 'update each':
      return {
        field: `update_${collection}_batch`,
        args: { data: value(`[${input('update')}]!`, write.rows) },
        ...below,
      };
    case 'delete': {
      const column = (name: string): DocumentEntry => ({ kind: 'column', key: name, field: name, from: [name] });
      return write.keys.length === 1
        ? { field: `delete_${collection}_item`, args: { id: keyOf(write.keys[0] as Key) }, of: [column('id')] }
        : { field: `delete_${collection}_items`, args: { ids: write.keys.map(keyOf) }, of: [column('ids')] };
    }
    default:
      throw new Error(`${write.verb} has no mutation`);
  }
}
