import type { Collection, Field } from '../../../../plugins/schema/contract.ts';
import { type GraphqlArguments, type GraphqlSelectionEntry, InexpressibleInGraphqlError } from './document-entries.ts';
import { isPlainRestObject, toGraphqlArguments } from './list-arguments.ts';
import {
  type FunctionCall,
  INEXPRESSIBLE_KEY_TEXT,
  INEXPRESSIBLE_QUERY_STRING,
  restFunctionKey,
} from './query-paths.ts';
import { type ReadableSchema, typenameEntry, valueConversionOf } from './readable-schema.ts';
import {
  assertGraphqlName,
  parseAliases,
  type RequestedFieldOfRestQuery,
  requestedFields,
} from './requested-fields.ts';

export const INEXPRESSIBLE_NESTED_GROUPS = 'groups of related rows';
export const INEXPRESSIBLE_STORED_KEY = 'the stored key of a many-to-any';
export const INEXPRESSIBLE_ROW_CONDITION = 'conditions on the one row behind a relation';
/** Reason: GraphQL has no function `json` for array columns. */
export const INEXPRESSIBLE_ARRAY_PATH = 'a place in an array column';
/** The entry of `deep` for one relation: its own parameters, and those of nested relations. */
export interface DeepParameters {
  readonly parameters: Record<string, unknown>;
  readonly deep: Record<string, unknown>;
}

/** Converts `fields` of a REST query into the selection of a document. Wildcards are expanded. */
export function toGraphqlSelectionEntries(
  sight: ReadableSchema,
  collection: Collection,
  fields: readonly string[],
  { parameters, deep }: DeepParameters,
): readonly GraphqlSelectionEntry[] {
  const aliases = parseAliases(parameters.alias);
  const entries: GraphqlSelectionEntry[] = [];
  for (const one of requestedFields(sight, collection, fields, aliases)) {
    const { key, field, call } = one;
    if (!field) entries.push(unknownEntry(one));
    else if (call) addFunction(entries, field, key, call);
    else entries.push(...fieldEntries(sight, collection, { ...one, field }, deep));
  }
  return entries.length > 0 ? entries : [typenameEntry(collection.name)];
}

/** A selection of an unknown field, which GraphQL must refuse. */
const unknownEntry = ({ key, call }: RequestedFieldOfRestQuery): GraphqlSelectionEntry => ({
  kind: 'column',
  key,
  field: call?.field ?? key,
  from: [key],
});

function addFunction(entries: GraphqlSelectionEntry[], { name, column }: Field, key: string, call: FunctionCall): void {
  const { fn, path } = call;
  if (fn === 'json' && column?.array) throw new InexpressibleInGraphqlError(INEXPRESSIBLE_ARRAY_PATH);
  const field = `${assertGraphqlName(name)}_func`;
  const isOwn = key === restFunctionKey(call) && fn !== 'json';
  const one: GraphqlSelectionEntry = {
    kind: 'column',
    key: isOwn ? fn : assertGraphqlName(key),
    field: fn,
    from: [key],
    ...(path === undefined ? {} : { args: { path } }),
  };
  const at = entries.findIndex((entry) => entry.kind === 'functions' && entry.field === field);
  const before = entries[at];
  if (before?.kind === 'functions') entries[at] = { ...before, of: [...before.of, one] };
  else entries.push({ kind: 'functions', key: field, field, of: [one] });
}

function fieldEntries(
  sight: ReadableSchema,
  collection: Collection,
  one: RequestedFieldOfRestQuery & { readonly field: Field },
  deep: Record<string, unknown>,
): readonly GraphqlSelectionEntry[] {
  const { key, field, nested } = one;
  const { relation } = field;
  const place = { key, field: assertGraphqlName(field.name), from: [key] };
  if (!relation) return [{ kind: 'column', ...place, ...valueConversionOf(collection, field) }];
  if (relation.kind === 'any') return anyEntries(sight, one, relation.allowedCollections, deep);
  const to = sight.snapshot.collections.get(relation.to) as Collection;
  const below = deepParametersOf(deep, key);
  if (!sight.isCollectionReadable(to.name)) {
    const isColumn = relation.kind === 'one' && nested.length === 0;
    return isColumn ? [{ kind: 'column', ...place, ...valueConversionOf(collection, field) }] : [];
  }
  const args = relation.kind === 'many' ? deepArguments(sight, to, below) : assertNoArguments(below, nested);
  const more = { ...place, ...(Object.keys(args).length > 0 ? { args } : {}) };
  if (nested.length > 0) return [{ kind: 'rows', ...more, of: toGraphqlSelectionEntries(sight, to, nested, below) }];
  if (to.primary === null) throw new InexpressibleInGraphqlError(INEXPRESSIBLE_KEY_TEXT);
  return [{ kind: 'keys', ...more, primary: to.primary }];
}

function anyEntries(
  sight: ReadableSchema,
  { key, field, nested, scoped }: RequestedFieldOfRestQuery & { readonly field: Field },
  allowed: readonly string[],
  deep: Record<string, unknown>,
): readonly GraphqlSelectionEntry[] {
  if (nested.length === 0 && scoped.size === 0) throw new InexpressibleInGraphqlError(INEXPRESSIBLE_STORED_KEY);
  const open = allowed.filter((name) => sight.isCollectionReadable(name));
  const fieldsByCollection = open.map((name) => [name, [...nested, ...(scoped.get(name) ?? [])]] as const);
  const of = fieldsByCollection.flatMap(([name, fields]) => {
    const to = sight.snapshot.collections.get(name) as Collection;
    const own = Object.hasOwn(deep, `${key}:${name}`) ? `${key}:${name}` : key;
    const below = deepParametersOf(deep, own);
    assertNoArguments(below, fields);
    const shown = fields.length > 0 ? toGraphqlSelectionEntries(sight, to, fields, below) : [];
    return shown.length > 0 && shown[0]?.kind !== 'typename' ? [[name, shown] as const] : [];
  });
  const unasked = open.filter((name) => !of.some(([other]) => other === name));
  const keys = new Set(unasked.flatMap((name) => [...sight.keysOf(name)]));
  return [{ kind: 'any', key, field: field.name, from: [key], of: new Map(of), unasked: keys }];
}

function deepParametersOf(deep: Record<string, unknown>, key: string): DeepParameters {
  const raw = Object.hasOwn(deep, key) ? deep[key] : {};
  if (!isPlainRestObject(raw)) throw new InexpressibleInGraphqlError(INEXPRESSIBLE_QUERY_STRING);
  const entries = Object.entries(raw);
  const own = entries.filter(([name]) => name.startsWith('_')).map(([name, value]) => [name.slice(1), value]);
  return {
    parameters: Object.fromEntries(own),
    deep: Object.fromEntries(entries.filter(([name]) => !name.startsWith('_'))),
  };
}

const LIST_PARAMETERS = ['filter', 'sort', 'limit', 'offset', 'page', 'search'];

function deepArguments(sight: ReadableSchema, to: Collection, { parameters }: DeepParameters): GraphqlArguments {
  if (parameters.aggregate !== undefined || parameters.groupBy !== undefined)
    throw new InexpressibleInGraphqlError(INEXPRESSIBLE_NESTED_GROUPS);
  // Parameters unknown to REST are passed on, so that GraphQL refuses them.
  const others = Object.entries(parameters).filter(([name]) => !LIST_PARAMETERS.includes(name) && name !== 'alias');
  return {
    ...toGraphqlArguments(sight, to, parameters, parseAliases(parameters.alias)),
    ...Object.fromEntries(others),
  };
}

/** To-one relations take no arguments in GraphQL. REST ignores list parameters there, except a filter. */
function assertNoArguments({ parameters }: DeepParameters, nested: readonly string[]): GraphqlArguments {
  if (parameters.filter !== undefined && nested.length > 0)
    throw new InexpressibleInGraphqlError(INEXPRESSIBLE_ROW_CONDITION);
  if (parameters.aggregate !== undefined || parameters.groupBy !== undefined)
    throw new InexpressibleInGraphqlError(INEXPRESSIBLE_NESTED_GROUPS);
  return {};
}
