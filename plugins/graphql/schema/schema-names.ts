import { type Collection, type Field, type SchemaOverview, SYSTEM_COLLECTION_PREFIX } from '../../schema/contract.ts';
import type { GraphqlScope } from '../contract.ts';
import { findAlternativeGraphqlAlias, isUsableGraphqlName, toGraphqlName } from './database-name-aliases.ts';
import { type ColumnEnums, createColumnEnums, databaseNameNote } from './enum-types.ts';
import { functionGroupOf } from './field-function-types.ts';
import { RESERVED_TYPE_NAMES, ROW_CHANGE_EVENT_ENUM } from './shared-types.ts';

export type LogWarning = (message: string, about: Readonly<Record<string, unknown>>) => void;

const TYPE_NAMES = {
  object: (name: string) => name,
  filter: (name: string) => `${name}_filter`,
  quantifier: (name: string) => `${name}_quantifier_filter`,
  groups: (name: string) => `${name}_aggregated`,
  counts: (name: string) => `${name}_aggregated_count`,
  numbers: (name: string) => `${name}_aggregated_fields`,
  create: (name: string) => `create_${name}_input`,
  update: (name: string) => `update_${name}_input`,
  nested: (name: string) => `nested_${name}_input`,
  key: (name: string) => `${name}_key_input`,
  change: (name: string) => `${name}_mutated`,
} as const;

/** Kinds of types that are derived from a collection. */
export type CollectionGraphqlTypeKind = keyof typeof TYPE_NAMES;
const KINDS = Object.keys(TYPE_NAMES) as readonly CollectionGraphqlTypeKind[];
const KINDS_WITHOUT_SUBSCRIPTIONS = KINDS.filter((kind) => kind !== 'change');

export const graphqlTypeName = (kind: CollectionGraphqlTypeKind, name: string): string => TYPE_NAMES[kind](name);

/** The GraphQL names of a collection and of everything derived from it. */
export interface GraphqlCollectionNames {
  readonly collection: Collection;
  /** The base of the collection's GraphQL type names: its own name, or an alias. */
  readonly name: string;
  /** The base of the collection's root fields; null when it has none in this scope. */
  readonly rootName: string | null;
  /** The collection's note, and its database name if it has an alias. */
  readonly description: string | undefined;
  readonly fields: readonly Field[];
  /** Aliases of fields by database name. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Names of the companion fields with functions, by field. */
  readonly companions: ReadonlyMap<string, string>;
  /** Names of types derived from one field: the union of a many-to-any, the functions of a JSON value. */
  readonly fieldTypes: ReadonlyMap<string, string>;
}

export interface GraphqlSchemaNames {
  readonly collections: ReadonlyMap<string, GraphqlCollectionNames>;
  /** Types derived from collections, by name. */
  readonly types: ReadonlyMap<string, { readonly kind: CollectionGraphqlTypeKind; readonly collection: string }>;
  readonly enums: ColumnEnums;
}

/** The GraphQL name of a field. */
export const graphqlFieldName = ({ aliases }: GraphqlCollectionNames, { name }: Field): string =>
  aliases.get(name) ?? name;

/** The note of a field, and its database name if it has an alias. */
export const graphqlFieldDescription = (
  { aliases }: GraphqlCollectionNames,
  { name, meta }: Field,
): string | undefined => buildDescription(meta?.note, aliases.has(name) ? name : undefined);

const buildDescription = (note: string | null | undefined, original: string | undefined): string | undefined =>
  original === undefined ? (note ?? undefined) : [...(note ? [note] : []), databaseNameNote(original)].join('\n\n');

const namesBySnapshot = new WeakMap<SchemaOverview, Map<string, GraphqlSchemaNames>>();

/**
 * The GraphQL names of all collections, fields and enums: the same for every caller, computed once for a schema
 * snapshot. Names that are invalid in GraphQL have an alias. When one collection has the name of a type derived from
 * another, the one with the shorter name keeps its name. The other gets an alias and a warning, since its name then
 * depends on other collections. `taken`: type names of contributed fields. Without subscriptions no name is kept free for
 * their types.
 */
export function assignGraphqlNames(
  snapshot: SchemaOverview,
  scope: GraphqlScope,
  taken: readonly string[],
  hasSubscriptions: boolean,
  warn: LogWarning,
): GraphqlSchemaNames {
  const scopes = namesBySnapshot.get(snapshot) ?? new Map<string, GraphqlSchemaNames>();
  namesBySnapshot.set(snapshot, scopes);
  const key = [scope, hasSubscriptions, ...taken].join(' ');
  const reserved = [...RESERVED_TYPE_NAMES, ...taken, ...(hasSubscriptions ? [ROW_CHANGE_EVENT_ENUM.name] : [])];
  const kinds = hasSubscriptions ? KINDS : KINDS_WITHOUT_SUBSCRIPTIONS;
  const found = scopes.get(key) ?? computeNames(snapshot, scope, reserved, kinds, warn);
  scopes.set(key, found);
  return found;
}

function computeNames(
  snapshot: SchemaOverview,
  scope: GraphqlScope,
  reserved: readonly string[],
  kinds: readonly CollectionGraphqlTypeKind[],
  warn: LogWarning,
): GraphqlSchemaNames {
  const types = new Set(reserved);
  const roots = new Set<string>();
  const typeOwners = new Map<string, { kind: CollectionGraphqlTypeKind; collection: string }>();
  const names = new Map<Collection, string>();
  const findClash = (collection: Collection, name: string): string | undefined =>
    kinds.map((kind) => graphqlTypeName(kind, name)).find((one) => types.has(one)) ??
    rootNames(collection, name, scope).find((one) => roots.has(one));
  for (const collection of [...snapshot.collections.values()].filter(isServed).sort(compareByLength)) {
    const own = toGraphqlName(collection.name);
    const other = findClash(collection, own);
    const name =
      other === undefined
        ? own
        : findAlternativeGraphqlAlias(collection.name, (one) => findClash(collection, one) !== undefined);
    if (other !== undefined)
      warn(`a collection has an alias in GraphQL, since its name is used by ${other.split(' ').at(-1)}`, {
        collection: collection.name,
        alias: name,
      });
    for (const kind of kinds) {
      types.add(graphqlTypeName(kind, name));
      typeOwners.set(graphqlTypeName(kind, name), { kind, collection: collection.name });
    }
    for (const one of rootNames(collection, name, scope)) roots.add(one);
    names.set(collection, name);
  }
  const claimName = (name: string, ...more: readonly string[]): string => {
    const isTaken = (one: string) => [one, ...more.map((end) => one + end)].some((each) => types.has(each));
    const free = isTaken(name) ? findAlternativeGraphqlAlias(name, isTaken) : name;
    for (const end of ['', ...more]) types.add(free + end);
    return free;
  };
  const enums = createColumnEnums(names.keys(), (name) => claimName(name, '_filter_operators'));
  // Collections stay in the order of the snapshot, which is also the order in the GraphQL schema.
  const collections = new Map(
    [...snapshot.collections.values()].flatMap((one): [string, GraphqlCollectionNames][] => {
      const name = names.get(one);
      return name === undefined ? [] : [[one.name, nameCollection(one, name, scope, claimName)]];
    }),
  );
  return { collections, types: typeOwners, enums };
}

/** A table or view; not a collection that only its own routes serve. */
const isServed = ({ table, verbs }: Collection): boolean => table !== null && verbs?.length !== 0;

const compareByLength = (a: Collection, b: Collection): number =>
  a.name.length - b.name.length || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

const rootNameOf = ({ system }: Collection, name: string, scope: GraphqlScope): string | null => {
  if (system !== (scope === 'system')) return null;
  return system ? name.slice(SYSTEM_COLLECTION_PREFIX.length) : name;
};

/** Names of root fields, those of mutations with a prefix, since a query and a mutation may share a name. */
function rootNames(collection: Collection, name: string, scope: GraphqlScope): readonly string[] {
  const root = rootNameOf(collection, name, scope);
  if (root === null) return [];
  if (collection.singleton) return [root, `mutation update_${root}`];
  const writes = ['create_?_item', 'create_?_items', 'update_?_item', 'update_?_items', 'update_?_batch'];
  const deletes = ['delete_?_item', 'delete_?_items'];
  const mutations = [...writes, ...deletes].map((one) => `mutation ${one.replace('?', root)}`);
  return [root, `${root}_by_id`, `${root}_aggregated`, ...mutations];
}

function nameCollection(
  collection: Collection,
  name: string,
  scope: GraphqlScope,
  claimName: (name: string) => string,
): GraphqlCollectionNames {
  const fields = [...collection.fields.values()].filter(({ column, relation }) => column || relation);
  const aliases = new Map<string, string>();
  for (const field of fields) if (!isUsableGraphqlName(field.name)) aliases.set(field.name, toGraphqlName(field.name));
  const taken = new Set(fields.map((field) => aliases.get(field.name) ?? field.name));
  const companions = new Map<string, string>();
  const fieldTypes = new Map<string, string>();
  for (const field of fields) {
    const alias = aliases.get(field.name) ?? field.name;
    if (field.relation?.kind === 'any') fieldTypes.set(field.name, claimName(`${name}_${alias}_union`));
    const group = functionGroupOf(field);
    if (!group) continue;
    if (group === 'json') fieldTypes.set(field.name, claimName(`${name}_${alias}_func`));
    const companion = `${alias}_func`;
    companions.set(
      field.name,
      taken.has(companion) ? findAlternativeGraphqlAlias(companion, (one) => taken.has(one)) : companion,
    );
  }
  return {
    collection,
    name,
    rootName: rootNameOf(collection, name, scope),
    description: buildDescription(collection.meta?.note, name === collection.name ? undefined : collection.name),
    fields,
    aliases,
    companions,
    fieldTypes,
  };
}
