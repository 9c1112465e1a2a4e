import type { Collection, Field } from '../../../../plugins/schema/contract.ts';
import { argumentsOf, isObject } from './conditions.ts';
import { type Arguments, type Entry, Inexpressible } from './entries.ts';
import { type Call, calledInRest, KEY_TEXT, QUERY_STRINGS } from './names.ts';
import { formOf, type Sight, typename } from './sight.ts';
import { aliasesOf, checked, type Wanted, wantedOf } from './wanted.ts';

export const NESTED_GROUPS = 'groups of related rows';
export const STORED_KEY = 'the stored key of a many-to-any';
export const OF_ONE = 'conditions on the one row behind a relation';
/** Array columns have no function `json`: their type is the same whatever is inside. */
export const IN_ARRAY = 'a place in an array column';
/** What `deep` says of one relation: its own terms, and what is further down. */
export interface Below {
  readonly own: Record<string, unknown>;
  readonly deep: Record<string, unknown>;
}

/** `fields` as entries: wildcards are spelled out, and names that may not be known left out, unless asked for boldly. */
export function shownOf(
  sight: Sight,
  collection: Collection,
  fields: readonly string[],
  { own, deep }: Below,
): readonly Entry[] {
  const aliases = aliasesOf(own.alias);
  const entries: Entry[] = [];
  for (const one of wantedOf(sight, collection, fields, aliases)) {
    const { key, field, call } = one;
    if (!field) entries.push(unknown(one));
    else if (call) addFunction(entries, field, key, call);
    else entries.push(...fieldEntries(sight, collection, { ...one, field }, deep));
  }
  return entries.length > 0 ? entries : [typename(collection.name)];
}

/** Asked for all the same, to be refused. */
const unknown = ({ key, call }: Wanted): Entry => ({ kind: 'column', key, field: call?.field ?? key, from: [key] });

function addFunction(entries: Entry[], { name, column }: Field, key: string, call: Call): void {
  const { fn, path } = call;
  if (fn === 'json' && column?.array) throw new Inexpressible(IN_ARRAY);
  const field = `${checked(name)}_func`;
  const isOwn = key === calledInRest(call) && fn !== 'json';
  const one: Entry = {
    kind: 'column',
    key: isOwn ? fn : checked(key),
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
  sight: Sight,
  collection: Collection,
  one: Wanted & { readonly field: Field },
  deep: Record<string, unknown>,
): readonly Entry[] {
  const { key, field, nested } = one;
  const { relation } = field;
  const place = { key, field: checked(field.name), from: [key] };
  if (!relation) return [{ kind: 'column', ...place, ...formOf(collection, field) }];
  if (relation.kind === 'any') return anyEntries(sight, one, relation.allowed, deep);
  const to = sight.overview.collections.get(relation.to) as Collection;
  const below = belowOf(deep, key);
  if (!sight.opens(to.name)) {
    const isColumn = relation.kind === 'one' && nested.length === 0;
    return isColumn ? [{ kind: 'column', ...place, ...formOf(collection, field) }] : [];
  }
  const args = relation.kind === 'many' ? argumentsBelow(sight, to, below) : noneOf(below, nested);
  const more = { ...place, ...(Object.keys(args).length > 0 ? { args } : {}) };
  if (nested.length > 0) return [{ kind: 'rows', ...more, of: shownOf(sight, to, nested, below) }];
  if (to.primary === null) throw new Inexpressible(KEY_TEXT);
  return [{ kind: 'keys', ...more, primary: to.primary }];
}

function anyEntries(
  sight: Sight,
  { key, field, nested, scoped }: Wanted & { readonly field: Field },
  allowed: readonly string[],
  deep: Record<string, unknown>,
): readonly Entry[] {
  if (nested.length === 0 && scoped.size === 0) throw new Inexpressible(STORED_KEY);
  const open = allowed.filter((name) => sight.opens(name));
  const asked = open.map((name) => [name, [...nested, ...(scoped.get(name) ?? [])]] as const);
  const of = asked.flatMap(([name, fields]) => {
    const to = sight.overview.collections.get(name) as Collection;
    const own = Object.hasOwn(deep, `${key}:${name}`) ? `${key}:${name}` : key;
    const below = belowOf(deep, own);
    noneOf(below, fields);
    const shown = fields.length > 0 ? shownOf(sight, to, fields, below) : [];
    return shown.length > 0 && shown[0]?.kind !== 'typename' ? [[name, shown] as const] : [];
  });
  const unasked = open.filter((name) => !of.some(([other]) => other === name));
  const keys = new Set(unasked.flatMap((name) => [...sight.keysOf(name)]));
  return [{ kind: 'any', key, field: field.name, from: [key], of: new Map(of), unasked: keys }];
}

function belowOf(deep: Record<string, unknown>, key: string): Below {
  const raw = Object.hasOwn(deep, key) ? deep[key] : {};
  if (!isObject(raw)) throw new Inexpressible(QUERY_STRINGS);
  const entries = Object.entries(raw);
  const own = entries.filter(([name]) => name.startsWith('_')).map(([name, value]) => [name.slice(1), value]);
  return {
    own: Object.fromEntries(own),
    deep: Object.fromEntries(entries.filter(([name]) => !name.startsWith('_'))),
  };
}

const TERMS = ['filter', 'sort', 'limit', 'offset', 'page', 'search'];

function argumentsBelow(sight: Sight, to: Collection, { own }: Below): Arguments {
  if (own.aggregate !== undefined || own.groupBy !== undefined) throw new Inexpressible(NESTED_GROUPS);
  // What REST does not know there either is asked for, to be refused.
  const others = Object.entries(own).filter(([name]) => !TERMS.includes(name) && name !== 'alias');
  return { ...argumentsOf(sight, to, own, aliasesOf(own.alias)), ...Object.fromEntries(others) };
}

/** A to-one takes no arguments; what only lists have says nothing there in REST. */
function noneOf({ own }: Below, nested: readonly string[]): Arguments {
  if (own.filter !== undefined && nested.length > 0) throw new Inexpressible(OF_ONE);
  if (own.aggregate !== undefined || own.groupBy !== undefined) throw new Inexpressible(NESTED_GROUPS);
  return {};
}
