import { type Collection, type Field, type Overview, SYSTEM_PREFIX } from '../../schema/contract.ts';
import type { GraphqlScope } from '../contract.ts';
import { alternativeAlias, isUsableName, toAlias } from './aliases.ts';
import { type ColumnEnums, createColumnEnums, databaseNameNote } from './enum-types.ts';
import { functionGroupOf } from './functions.ts';
import { RESERVED } from './shared-types.ts';

export type Warn = (message: string, about: Readonly<Record<string, unknown>>) => void;

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
} as const;

/** What is made of a collection. */
export type TypeKind = keyof typeof TYPE_NAMES;
const KINDS = Object.keys(TYPE_NAMES) as readonly TypeKind[];

export const typeName = (kind: TypeKind, name: string): string => TYPE_NAMES[kind](name);

/** A collection as GraphQL calls it, and all that is made of it. */
export interface NamedCollection {
  readonly collection: Collection;
  /** What its types are called after: its own name, or an alias. */
  readonly name: string;
  /** What its root fields are called after; null where it has none in this scope. */
  readonly rootName: string | null;
  /** Its note, and its own name where it has another one here. */
  readonly description: string | undefined;
  readonly fields: readonly Field[];
  /** Of the fields that have another name here, by their own. */
  readonly aliases: ReadonlyMap<string, string>;
  /** What the companions of fields are called that have functions. */
  readonly companions: ReadonlyMap<string, string>;
  /** Types made of one field: the union of a many-to-any, the functions of a JSON value. */
  readonly fieldTypes: ReadonlyMap<string, string>;
}

export interface SchemaNames {
  readonly collections: ReadonlyMap<string, NamedCollection>;
  /** What is called so: of types made of one collection. */
  readonly types: ReadonlyMap<string, { readonly kind: TypeKind; readonly collection: string }>;
  readonly enums: ColumnEnums;
}

/** What a field is called in types of its collection. */
export const fieldName = ({ aliases }: NamedCollection, { name }: Field): string => aliases.get(name) ?? name;

/** The note of a field, and its own name where it has another one here. */
export const fieldDescription = ({ aliases }: NamedCollection, { name, meta }: Field): string | undefined =>
  buildDescription(meta?.note, aliases.has(name) ? name : undefined);

const buildDescription = (note: string | null | undefined, original: string | undefined): string | undefined =>
  original === undefined ? (note ?? undefined) : [...(note ? [note] : []), databaseNameNote(original)].join('\n\n');

const namesBySnapshot = new WeakMap<Overview, Map<string, SchemaNames>>();

/**
 * Which name each collection, field and enum has: the same for every caller, and found once for an overview. What cannot be said
 * has its alias. Of two collections of which one is called like something made of the other, the one with the shorter name
 * keeps it, and the other has an alias, with a warning, since that depends on what else there is. `taken` are names of types that
 * other plugins contribute.
 */
export function assignNames(
  snapshot: Overview,
  scope: GraphqlScope,
  taken: readonly string[],
  warn: Warn,
): SchemaNames {
  const scopes = namesBySnapshot.get(snapshot) ?? new Map<string, SchemaNames>();
  namesBySnapshot.set(snapshot, scopes);
  const key = [scope, ...taken].join(' ');
  const found = scopes.get(key) ?? computeNames(snapshot, scope, taken, warn);
  scopes.set(key, found);
  return found;
}

function computeNames(snapshot: Overview, scope: GraphqlScope, taken: readonly string[], warn: Warn): SchemaNames {
  const types = new Set([...RESERVED, ...taken]);
  const roots = new Set<string>();
  const typeOwners = new Map<string, { kind: TypeKind; collection: string }>();
  const names = new Map<Collection, string>();
  const findClash = (collection: Collection, name: string): string | undefined =>
    KINDS.map((kind) => typeName(kind, name)).find((one) => types.has(one)) ??
    rootNames(collection, name, scope).find((one) => roots.has(one));
  for (const collection of [...snapshot.collections.values()].filter(isServed).sort(compareByLength)) {
    const own = toAlias(collection.name);
    const other = findClash(collection, own);
    const name =
      other === undefined ? own : alternativeAlias(collection.name, (one) => findClash(collection, one) !== undefined);
    if (other !== undefined)
      warn(`a collection has an alias in GraphQL, since something else is called ${other.split(' ').at(-1)}`, {
        collection: collection.name,
        alias: name,
      });
    for (const kind of KINDS) {
      types.add(typeName(kind, name));
      typeOwners.set(typeName(kind, name), { kind, collection: collection.name });
    }
    for (const one of rootNames(collection, name, scope)) roots.add(one);
    names.set(collection, name);
  }
  const claimName = (name: string, ...more: readonly string[]): string => {
    const isTaken = (one: string) => [one, ...more.map((end) => one + end)].some((each) => types.has(each));
    const free = isTaken(name) ? alternativeAlias(name, isTaken) : name;
    for (const end of ['', ...more]) types.add(free + end);
    return free;
  };
  const enums = createColumnEnums(names.keys(), (name) => claimName(name, '_filter_operators'));
  // In the order of the overview, which is how they are shown.
  const collections = new Map(
    [...snapshot.collections.values()].flatMap((one): [string, NamedCollection][] => {
      const name = names.get(one);
      return name === undefined ? [] : [[one.name, nameCollection(one, name, scope, claimName)]];
    }),
  );
  return { collections, types: typeOwners, enums };
}

/** A table or a view; not what has routes and types of its own. */
const isServed = ({ table, verbs }: Collection): boolean => table !== null && verbs?.length !== 0;

const compareByLength = (a: Collection, b: Collection): number =>
  a.name.length - b.name.length || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

const rootNameOf = ({ system }: Collection, name: string, scope: GraphqlScope): string | null => {
  if (system !== (scope === 'system')) return null;
  return system ? name.slice(SYSTEM_PREFIX.length) : name;
};

/** Of queries with a mark before them, since a query and a mutation may be called the same. */
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
): NamedCollection {
  const fields = [...collection.fields.values()].filter(({ column, relation }) => column || relation);
  const aliases = new Map<string, string>();
  for (const field of fields) if (!isUsableName(field.name)) aliases.set(field.name, toAlias(field.name));
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
    companions.set(field.name, taken.has(companion) ? alternativeAlias(companion, (one) => taken.has(one)) : companion);
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
