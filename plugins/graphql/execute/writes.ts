import { GraphQLObjectType, getArgumentValues, getNamedType } from 'graphql';
import { clientSignal } from '../../http/library.ts';
import type { Key, Payload } from '../../items/contract.ts';
import { castKey } from '../../items/library.ts';
import { collect, setsOf } from '../plan/collect.ts';
import { payloadOf } from '../plan/payload.ts';
import type { Root } from '../plan/roots.ts';
import type { RootBinding } from '../schema/binding.ts';
import { checkedSelection, rowBack, rowsBack } from './read-back.ts';
import { type ExecuteDeps, type Run, translating } from './run.ts';

export type WriteBinding = Extract<RootBinding, { readonly shown: boolean }>;

interface Given {
  readonly id?: unknown;
  readonly ids?: readonly unknown[];
  readonly data?: Payload | readonly Payload[] | null;
}

/** A write, and the rows of it read back. Its answer is `true` where the caller may read nothing of the collection. */
export async function write(deps: ExecuteDeps, run: Run, root: Root, binding: WriteBinding): Promise<string> {
  const { kind, collection, shown } = binding;
  const given = argumentsOf(root, run);
  if (kind === 'delete one' || kind === 'delete many') return remove(deps, run, root, collection, given);
  const selection = shown ? await checkedSelection(deps, run, root) : undefined;
  const keys = await written(deps, run, kind, collection, given);
  if (!selection) return 'true';
  return Array.isArray(keys)
    ? rowsBack(deps, run, collection, root, selection, keys)
    : rowBack(deps, run, collection, root, selection, keys as Key);
}

function argumentsOf({ field, nodes }: Root, { coerced }: Run): Given {
  const given = getArgumentValues(field, nodes[0], coerced);
  const named = field.args.filter(({ name }) => given[name] !== undefined);
  return Object.fromEntries(named.map(({ name, type }) => [name, payloadOf(type, given[name])]));
}

/** The key of the one row written, or the keys of several. */
async function written(
  { items }: ExecuteDeps,
  { call: { caller, ctx } }: Run,
  kind: Exclude<WriteBinding['kind'], 'delete one' | 'delete many'>,
  collection: string,
  { id, ids = [], data }: Given,
): Promise<Key | readonly Key[]> {
  const row = (data ?? {}) as Payload;
  const rows = (data ?? []) as readonly Payload[];
  const limits = { signal: clientSignal(ctx) };
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

/** Answers the keys as they were given, `{ id }` or `{ ids }`: rows of none of them are there any more. */
async function remove(
  deps: ExecuteDeps,
  run: Run,
  root: Root,
  name: string,
  { id, ids = [id] }: Given,
): Promise<string> {
  const type = getNamedType(root.field.type);
  const shown =
    type instanceof GraphQLObjectType ? collect(translating(deps, run), type, setsOf(root.nodes)) : undefined;
  await deps.items.deleteMany(run.call.caller, name, ids, { signal: clientSignal(run.call.ctx) });
  if (!shown) return 'true';
  const key = (await deps.schema.overview()).collections.get(name)?.key;
  const keys = ids.map((one) => String(key?.parts ? castKey(key, one) : one));
  const values: Readonly<Record<string, unknown>> = { __typename: type.name, id: keys[0], ids: keys };
  return JSON.stringify(Object.fromEntries(shown.map(({ key, field }) => [key, values[field.name] ?? null])));
}
