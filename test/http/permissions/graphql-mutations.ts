import {
  type DocumentRootField,
  type GraphqlSelectionEntry,
  GraphqlVariableValue,
} from '../../plugins/graphql/cases/document-entries.ts';
import type { ExpectedGraphqlSchema } from './expected-graphql-schema.ts';
import { parseKeyColumns } from './keys.ts';
import { PERMISSION_TEST_MODEL, tableNameOfCollection } from './permission-test-collections.ts';
import type { PermissionTestModel } from './reference-types.ts';
import type { TestRowKey, TestWriteRequest } from './reference-writes.ts';

/** The argument for the key of a row: a value, or the columns of a composite key where the schema of the person has them all. */
export const toGraphqlKeyArgument = (
  visibleSchema: ExpectedGraphqlSchema,
  collection: string,
  key: unknown,
): unknown =>
  visibleSchema.hasKeyInput(collection)
    ? parseKeyColumns(PERMISSION_TEST_MODEL[collection] as PermissionTestModel[string], key)
    : key;

/** The root field of a write, with its values in variables if `useVariables` is set. */
export function buildMutationRootField(
  visibleSchema: ExpectedGraphqlSchema,
  collection: string,
  write: TestWriteRequest,
  of: readonly GraphqlSelectionEntry[] | undefined,
  useVariables: boolean,
): DocumentRootField {
  const below = of ? { of } : {};
  const value = (type: string, data: unknown) => (useVariables ? new GraphqlVariableValue(type, data) : data);
  const key = visibleSchema.hasKeyInput(collection) ? `${tableNameOfCollection(collection)}_key_input` : 'ID';
  const keyOf = (one: TestRowKey) => toGraphqlKeyArgument(visibleSchema, collection, one);
  const input = (kind: 'create' | 'update') => `${kind}_${tableNameOfCollection(collection)}_input!`;
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
            args: { id: value(`${key}!`, keyOf(write.keys[0] as TestRowKey)), data },
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
      const column = (name: string): GraphqlSelectionEntry => ({
        kind: 'column',
        key: name,
        field: name,
        from: [name],
      });
      return write.keys.length === 1
        ? { field: `delete_${collection}_item`, args: { id: keyOf(write.keys[0] as TestRowKey) }, of: [column('id')] }
        : { field: `delete_${collection}_items`, args: { ids: write.keys.map(keyOf) }, of: [column('ids')] };
    }
    default:
      throw new Error(`${write.verb} has no mutation`);
  }
}
