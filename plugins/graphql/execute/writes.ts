import { GraphQLObjectType, getArgumentValues, getNamedType } from 'graphql';
import type { Key, Payload } from '../../items/contract.ts';
import { parseKeyValue } from '../../items/library.ts';
import { collectFields, selectionSetsOf } from '../plan/collect-fields.ts';
import { graphqlInputToPayload } from '../plan/payload.ts';
import type { SelectedRootField } from '../plan/root-fields.ts';
import type { RootFieldBinding } from '../schema/field-bindings.ts';
import { createGraphqlSelectionContext, type GraphqlExecutionDeps, type GraphqlOperationRun } from './operation-run.ts';
import { precheckMutationSelection, readBackRow, readBackRows } from './read-back.ts';

export type MutationFieldBinding = Extract<RootFieldBinding, { readonly returnsRows: boolean }>;

interface WriteArguments {
  readonly id?: unknown;
  readonly ids?: readonly unknown[];
  readonly data?: Payload | readonly Payload[] | null;
}

/** Executes a mutation and reads its rows back. Answers `true` when the caller may not read the collection. */
export async function executeMutationField(
  deps: GraphqlExecutionDeps,
  run: GraphqlOperationRun,
  root: SelectedRootField,
  binding: MutationFieldBinding,
): Promise<string> {
  const { kind, collection, returnsRows } = binding;
  const args = readArguments(root, run);
  if (kind === 'delete one' || kind === 'delete many') return deleteRows(deps, run, root, collection, args);
  const selection = returnsRows ? await precheckMutationSelection(deps, run, root) : undefined;
  const keys = await writeRows(deps, run, kind, collection, args);
  if (!selection) return 'true';
  return Array.isArray(keys)
    ? readBackRows(deps, run, collection, root, selection, keys)
    : readBackRow(deps, run, collection, root, selection, keys as Key);
}

function readArguments({ field, nodes }: SelectedRootField, { coercedVariables }: GraphqlOperationRun): WriteArguments {
  const values = getArgumentValues(field, nodes[0], coercedVariables);
  const present = field.args.filter(({ name }) => values[name] !== undefined);
  return Object.fromEntries(present.map(({ name, type }) => [name, graphqlInputToPayload(type, values[name])]));
}

/** Writes the rows of a mutation. Returns the key of a single row, or the keys of several. */
async function writeRows(
  { items }: GraphqlExecutionDeps,
  { call: { caller, signal } }: GraphqlOperationRun,
  kind: Exclude<MutationFieldBinding['kind'], 'delete one' | 'delete many'>,
  collection: string,
  { id, ids = [], data }: WriteArguments,
): Promise<Key | readonly Key[]> {
  const row = (data ?? {}) as Payload;
  const rows = (data ?? []) as readonly Payload[];
  const limits = { signal };
  switch (kind) {
    case 'create one':
      return items.createOne(caller, collection, row, limits);
    case 'create many':
      return items.createMany(caller, collection, rows, limits);
    case 'update one':
      return items.updateOne(caller, collection, id, row, limits);
    case 'update many':
      return items.updateMany(caller, collection, ids, row, limits);
    case 'update each':
      return rows.length === 0 ? [] : items.updateEach(caller, collection, rows, limits);
    case 'update singleton':
      return items.upsertSingleton(caller, collection, row, limits);
  }
}

/** Deletes rows and answers the keys of the arguments, `{ id }` or `{ ids }`. */
async function deleteRows(
  deps: GraphqlExecutionDeps,
  run: GraphqlOperationRun,
  root: SelectedRootField,
  name: string,
  { id, ids = [id] }: WriteArguments,
): Promise<string> {
  const type = getNamedType(root.field.type);
  const fields =
    type instanceof GraphQLObjectType
      ? collectFields(createGraphqlSelectionContext(deps, run), type, selectionSetsOf(root.nodes))
      : undefined;
  await deps.items.deleteMany(run.call.caller, name, ids, { signal: run.call.signal });
  if (!fields) return 'true';
  const key = (await deps.schema.snapshot()).collections.get(name)?.key;
  const keys = ids.map((one) => String(key?.parts ? parseKeyValue(key, one) : one));
  const values: Readonly<Record<string, unknown>> = { __typename: type.name, id: keys[0], ids: keys };
  return JSON.stringify(Object.fromEntries(fields.map(({ key, field }) => [key, values[field.name] ?? null])));
}
