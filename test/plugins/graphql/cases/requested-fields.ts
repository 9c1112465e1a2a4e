import type { Collection, Field } from '../../../../plugins/schema/contract.ts';
import { InexpressibleInGraphqlError, isGraphqlName } from './document-entries.ts';
import { INEXPRESSIBLE_NAME, isPlainRestObject, type RestFieldAliases } from './list-arguments.ts';
import {
  type FunctionCall,
  INEXPRESSIBLE_PATH,
  INEXPRESSIBLE_QUERY_STRING,
  parseListParameter,
  parseQueryFunctionCall,
  restFunctionKey,
  splitQueryPath,
} from './query-paths.ts';
import type { ReadableSchema } from './readable-schema.ts';

/** Reason: two values have the same key in REST, or one that is too long, but separate keys in GraphQL. */
export const INEXPRESSIBLE_NAME_CLASH = 'a clash of names that only REST has';

/** One field of a REST query, with all entries of `fields` that begin with its name. */
export interface RequestedFieldOfRestQuery {
  readonly key: string;
  readonly field: Field | undefined;
  readonly call?: FunctionCall | undefined;
  /** Whether an entry of `fields` is the field itself, without a path below it. */
  bare: boolean;
  nested: readonly string[];
  readonly scoped: Map<string, readonly string[]>;
}

export function parseAliases(raw: unknown): RestFieldAliases {
  if (raw === undefined || raw === null) return {};
  if (!isPlainRestObject(raw)) throw new InexpressibleInGraphqlError(INEXPRESSIBLE_QUERY_STRING);
  for (const [key, name] of Object.entries(raw)) {
    assertGraphqlName(key);
    if (typeof name !== 'string') throw new InexpressibleInGraphqlError(INEXPRESSIBLE_QUERY_STRING);
    if (splitQueryPath(name).length > 1) throw new InexpressibleInGraphqlError(INEXPRESSIBLE_PATH);
  }
  return raw as RestFieldAliases;
}

/** The requested fields, one for each key in the answer of REST, with wildcards expanded. */
export function requestedFields(
  sight: ReadableSchema,
  collection: Collection,
  fields: readonly string[],
  aliases: RestFieldAliases,
): Iterable<RequestedFieldOfRestQuery> {
  const fieldsByKey = new Map<string, RequestedFieldOfRestQuery>();
  const addField = (step: string, rest: readonly string[]): void => {
    const [called = '', only]: readonly string[] =
      collection.fields.has(step) || step.includes('(') ? [step] : step.split(':');
    const isAlias = Object.hasOwn(aliases, called);
    const meant: string = isAlias ? (aliases[called] as string) : called;
    const call = collection.fields.has(meant) ? undefined : parseQueryFunctionCall(meant);
    const name = call?.field ?? meant;
    const field = sight.isFieldReadable(collection.name, name) ? collection.fields.get(name) : undefined;
    const { relation } = field ?? {};
    if (call && relation?.kind === 'many' && !sight.isCollectionReadable(relation.to) && !sight.includesHiddenNames)
      return;
    if (field ? isEmpty(field) || (rest.length > 0 && !field.relation) : !sight.includesHiddenNames) return;
    if (
      field &&
      only !== undefined &&
      !(field.relation?.kind === 'any' && field.relation.allowedCollections.includes(only))
    )
      return;
    const key = call && !isAlias ? restFunctionKey(call) : called;
    const known: RequestedFieldOfRestQuery = fieldsByKey.get(key) ?? {
      key,
      field,
      call,
      bare: false,
      nested: [],
      scoped: new Map(),
    };
    if (JSON.stringify([known.field?.name, known.call]) !== JSON.stringify([field?.name, call]))
      throw new InexpressibleInGraphqlError(INEXPRESSIBLE_NAME_CLASH);
    if (call && !isAlias && Buffer.byteLength(key) > 63)
      throw new InexpressibleInGraphqlError(INEXPRESSIBLE_NAME_CLASH);
    fieldsByKey.set(key, known);
    if (rest.length === 0) known.bare = true;
    else if (only === undefined) known.nested = [...known.nested, rest.join('.')];
    else known.scoped.set(only, [...(known.scoped.get(only) ?? []), rest.join('.')]);
  };
  for (const entry of fields) {
    if (entry.includes('\0')) throw new InexpressibleInGraphqlError(INEXPRESSIBLE_PATH);
    const [head = '', ...rest] = splitQueryPath(entry);
    if (head !== '*') addField(head, rest);
    else
      for (const name of [...collection.fields.keys(), ...Object.keys(aliases)])
        expandWildcard(collection, name, rest, addField);
  }
  return fieldsByKey.values();
}

/** Expands a wildcard for one field: `*.*` selects columns and one level below relations, `*.name` applies to relations only. */
function expandWildcard(
  collection: Collection,
  name: string,
  rest: readonly string[],
  addField: (step: string, rest: readonly string[]) => void,
): void {
  if (rest.length === 0 || collection.fields.get(name)?.relation) addField(name, rest);
  else if (rest[0] === '*') addField(name, []);
}

const isEmpty = ({ column, relation }: Field): boolean => column === null && relation === null;

/** Parses the parameter `fields`, a list or one text with commas. Default: `*`. */
export const toFieldList = (raw: unknown): readonly string[] => {
  const list = parseListParameter(raw);
  return list.length > 0 ? list : ['*'];
};

export function assertGraphqlName(name: string): string {
  if (!isGraphqlName(name)) throw new InexpressibleInGraphqlError(INEXPRESSIBLE_NAME);
  return name;
}
