import { type Collection, type Field, type Overview, SYSTEM_PREFIX } from '../../schema/contract.ts';
import type { GraphqlScope } from '../contract.ts';
import { functionGroupOf } from './functions.ts';
import { RESERVED } from './shared-types.ts';

export type Warn = (message: string, about: Readonly<Record<string, unknown>>) => void;

const TYPES = {
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
export type TypeKind = keyof typeof TYPES;
const KINDS = Object.keys(TYPES) as readonly TypeKind[];

export const typeName = (kind: TypeKind, collection: string): string => TYPES[kind](collection);
export const unionName = (collection: string, field: string): string => `${collection}_${field}_union`;
export const functionsName = (collection: string, field: string): string => `${collection}_${field}_func`;
export const companionName = (field: string): string => `${field}_func`;

/** A collection whose name, and the names of all that is made of it, can be said in GraphQL. */
export interface Named {
  readonly collection: Collection;
  /** What its root fields are called after; null where it has none in this scope. */
  readonly root: string | null;
  readonly fields: readonly Field[];
  /** Names of the fields that can have a companion with their functions. */
  readonly companions: ReadonlySet<string>;
}

export interface Names {
  readonly collections: ReadonlyMap<string, Named>;
  /** What is called so: of types made of one collection. */
  readonly types: ReadonlyMap<string, { readonly kind: TypeKind; readonly collection: string }>;
}

const known = new WeakMap<Overview, Map<string, Names>>();

/**
 * Who is called what: the same for every caller, and found once for an overview. What cannot be said, or would be called like
 * something else, is left out with a warning; of two collections the one with the shorter name stays, since the other one
 * is called like something made of it. `taken` are names of types that other plugins contribute.
 */
export function namesOf(overview: Overview, scope: GraphqlScope, taken: readonly string[], warn: Warn): Names {
  const scopes = known.get(overview) ?? new Map<string, Names>();
  known.set(overview, scopes);
  const key = [scope, ...taken].join(' ');
  const found = scopes.get(key) ?? findNames(overview, scope, taken, warn);
  scopes.set(key, found);
  return found;
}

const NAME = /^(?!__)[_A-Za-z][_0-9A-Za-z]*$/;

function findNames(overview: Overview, scope: GraphqlScope, taken: readonly string[], warn: Warn): Names {
  const types = new Set([...RESERVED, ...taken]);
  const roots = new Set<string>();
  const made = new Map<string, { kind: TypeKind; collection: string }>();
  const admitted: Collection[] = [];
  for (const collection of [...overview.collections.values()].filter(isServed).sort(byLength)) {
    const { name } = collection;
    const ownTypes = KINDS.map((kind) => typeName(kind, name));
    const ownRoots = rootNames(collection, scope);
    const clash = NAME.test(name)
      ? (ownTypes.find((one) => types.has(one)) ?? ownRoots.find((one) => roots.has(one)))
      : undefined;
    if (!NAME.test(name) || clash !== undefined) {
      const reason = clash === undefined ? 'its name is not one of GraphQL' : `something else is called ${clash}`;
      warn(`a collection is left out of GraphQL: ${reason}`, { collection: name });
      continue;
    }
    for (const one of ownTypes) types.add(one);
    for (const one of ownRoots) roots.add(one);
    for (const kind of KINDS) made.set(typeName(kind, name), { kind, collection: name });
    admitted.push(collection);
  }
  // In the order of the overview, which is how they are shown.
  const stays = new Set(admitted);
  const collections = new Map(
    [...overview.collections.values()]
      .filter((one) => stays.has(one))
      .map((one) => [one.name, namedOf(one, scope, types, warn)]),
  );
  return { collections, types: made };
}

/** A table or a view; not what has routes and types of its own. */
const isServed = ({ table, verbs }: Collection): boolean => table !== null && verbs?.length !== 0;

const byLength = (a: Collection, b: Collection): number =>
  a.name.length - b.name.length || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

export const rootOf = ({ name, system }: Collection, scope: GraphqlScope): string | null => {
  if (system !== (scope === 'system')) return null;
  return system ? name.slice(SYSTEM_PREFIX.length) : name;
};

/** Of queries with a mark before them, since a query and a mutation may be called the same. */
function rootNames(collection: Collection, scope: GraphqlScope): readonly string[] {
  const root = rootOf(collection, scope);
  if (root === null) return [];
  if (collection.singleton) return [root, `mutation update_${root}`];
  const writes = ['create_?_item', 'create_?_items', 'update_?_item', 'update_?_items', 'update_?_batch'];
  const deletes = ['delete_?_item', 'delete_?_items'];
  const mutations = [...writes, ...deletes].map((one) => `mutation ${one.replace('?', root)}`);
  return [root, `${root}_by_id`, `${root}_aggregated`, ...mutations];
}

function namedOf(collection: Collection, scope: GraphqlScope, types: Set<string>, warn: Warn): Named {
  const about = (field: string) => ({ collection: collection.name, field });
  const fields: Field[] = [];
  const companions = new Set<string>();
  for (const field of collection.fields.values()) {
    if (!field.column && !field.relation) continue;
    const clash = field.relation?.kind === 'any' ? unionName(collection.name, field.name) : undefined;
    if (!NAME.test(field.name)) {
      warn('a field is left out of GraphQL: its name is not one of GraphQL', about(field.name));
      continue;
    }
    if (clash !== undefined && types.has(clash)) {
      warn(`a field is left out of GraphQL: something else is called ${clash}`, about(field.name));
      continue;
    }
    if (clash !== undefined) types.add(clash);
    fields.push(field);
    const group = functionGroupOf(field);
    if (!group) continue;
    const own = group === 'json' ? functionsName(collection.name, field.name) : undefined;
    if (collection.fields.has(companionName(field.name)) || (own !== undefined && types.has(own))) {
      warn(`functions of a field are left out of GraphQL: something else is called like them`, about(field.name));
      continue;
    }
    if (own !== undefined) types.add(own);
    companions.add(field.name);
  }
  return { collection, root: rootOf(collection, scope), fields, companions };
}
