import type { Collection, Field } from '../../schema/contract.ts';
import type { FieldUse, Parse, Pick, RawQuery, Read } from '../contract.ts';
import { parseFields, wantedFields } from './fields.ts';
import { EVERYTHING, parseFilter } from './filter.ts';
import { parsePaging } from './paging.ts';
import { type Ceilings, collectionNamed, type Scope, spend } from './scope.ts';
import { fromJson, invalid, isObject, type Path, textList } from './shape.ts';
import { parseSort, withDefaults } from './sort.ts';

const NOT_YET = ['aggregate', 'groupBy', 'export', 'version'] as const;
const NOTHING: Node = {};

/** One node's parameters without their underscores; `below` holds the nodes of its relations. */
interface Node {
  readonly filter?: unknown;
  readonly sort?: unknown;
  readonly limit?: unknown;
  readonly offset?: unknown;
  readonly page?: unknown;
  readonly search?: unknown;
  readonly alias?: unknown;
  readonly below?: Readonly<Record<string, unknown>>;
}

/** Query → tree (architecture, section 4). Nothing here knows who asks: `access` narrows what comes out. */
export function parseRead(collection: Collection, raw: RawQuery, options: Parse, ceilings: Ceilings): Read {
  const scope: Scope = {
    overview: options.overview,
    ceilings,
    trusted: false,
    visible: options.visible ?? (() => true),
    onUnknown: options.onUnknown ?? (() => {}),
    spent: { nodes: 0 },
  };
  for (const name of NOT_YET) if (raw[name] !== undefined) throw invalid('is not supported yet', [name]);
  const deep = fromJson(raw.deep, ['deep']);
  if (deep !== undefined && deep !== null && !isObject(deep)) throw invalid('must be an object', ['deep']);
  const node: Node = { ...raw, below: (deep ?? {}) as Record<string, unknown> };
  const read = parseNode(scope, collection, parseFields(raw.fields, ['fields']), node, [], {
    depth: 0,
    unlimited: options.unlimited ?? false,
    manual: null,
  });
  return {
    ...read,
    meta: parseMeta(raw.meta),
    ...(options.single ? { single: true, limit: 1, offset: 0 } : {}),
    ...(options.keys ? { keys: options.keys, limit: null, offset: 0 } : {}),
  };
}

interface Place {
  readonly depth: number;
  readonly unlimited: boolean;
  /** The relation's own sort field, where it has one. */
  readonly manual: string | null;
}

function parseNode(
  scope: Scope,
  collection: Collection,
  entries: readonly string[],
  node: Node,
  path: Path,
  place: Place,
): Read {
  spend(scope, path, place.depth);
  for (const [name, below] of Object.entries(node.below ?? {})) {
    if (!isObject(below)) throw invalid('must be an object', [...path, 'deep', name]);
  }
  const search = parseSearch(node.search, [...path, 'search']);
  return {
    collection,
    where: parseFilter(scope, collection, node.filter, [...path, 'filter']),
    search,
    searched: search === null ? [] : searchable(collection),
    order: withDefaults(collection, parseSort(scope, collection, node.sort, [...path, 'sort']), place.manual),
    ...parsePaging(node, scope.ceilings, path, place.unlimited),
    pick: parsePicks(scope, collection, entries, node, path, place),
    meta: [],
    single: false,
  };
}

function parsePicks(
  scope: Scope,
  collection: Collection,
  entries: readonly string[],
  node: Node,
  path: Path,
  { depth }: Place,
): readonly Pick[] {
  const aliases = parseAliases(node.alias, [...path, 'alias']);
  return wantedFields(scope, collection, entries, aliases).flatMap(({ key, field, nested }): Pick[] => {
    spend(scope, [...path, 'fields', key], depth);
    const { relation } = field;
    if (relation?.kind === 'many') {
      const to = collectionNamed(scope, relation.to);
      if (!nested && !to.primary) return [];
      const manual = relation.relation.meta?.sort_field ?? null;
      const below = belowOf(node, key, path);
      const read = parseNode(scope, to, nested ?? [to.primary as string], below, [...path, 'deep', key], {
        depth: depth + 1,
        unlimited: false,
        manual,
      });
      return [{ kind: nested ? 'many' : 'keys', key, field, read }];
    }
    if (nested && relation?.kind === 'one') {
      const to = collectionNamed(scope, relation.to);
      const below = belowOf(node, key, path);
      const place = { depth: depth + 1, unlimited: false, manual: null };
      const read = parseNode(scope, to, nested, below, [...path, 'deep', key], place);
      return [{ kind: 'one', key, field, read: { ...read, limit: null, offset: 0, order: [] } }];
    }
    return field.column ? [{ kind: 'column', key, field }] : [];
  });
}

/** `deep[author][_filter]`: parameters carry an underscore, everything else names a relation further down. */
function belowOf(node: Node, key: string, path: Path): Node {
  const raw = node.below && Object.hasOwn(node.below, key) ? node.below[key] : undefined;
  if (!isObject(raw)) return NOTHING;
  const own = Object.entries(raw).filter(([name]) => name.startsWith('_'));
  for (const [name] of own) {
    if (!['_filter', '_sort', '_limit', '_offset', '_page', '_search', '_alias'].includes(name)) {
      throw invalid(`"${name.slice(0, 40)}" is not supported here`, [...path, 'deep', key, name]);
    }
  }
  return {
    ...Object.fromEntries(own.map(([name, value]) => [name.slice(1), value])),
    below: Object.fromEntries(Object.entries(raw).filter(([name]) => !name.startsWith('_'))),
  };
}

function parseAliases(raw: unknown, path: Path): ReadonlyMap<string, string> {
  const aliases = fromJson(raw, path);
  if (aliases === undefined || aliases === null) return new Map();
  if (!isObject(aliases)) throw invalid('must be an object', path);
  return new Map(
    Object.entries(aliases).map(([key, name]) => {
      if (typeof name !== 'string' || /[.()]/.test(key + name))
        throw invalid('names a field without dots', [...path, key]);
      if (key.includes('\0') || Buffer.byteLength(key) > 63) throw invalid('is longer than 63 bytes', [...path, key]);
      return [key, name];
    }),
  );
}

const MAX_SEARCH = 2000;

function parseSearch(raw: unknown, path: Path): string | null {
  if (raw === undefined || raw === null || raw === '') return null;
  if (typeof raw !== 'string' && typeof raw !== 'number') throw invalid('must be a text', path);
  const text = String(raw);
  if (text.includes('\0')) throw invalid('must not contain a NUL character', path);
  // Each row is compared with the whole term: a long one costs the database seconds, and nobody types it.
  if (text.length > MAX_SEARCH) throw invalid(`must not be longer than ${MAX_SEARCH} characters`, path);
  return text.trim() || text;
}

const SEARCHED: readonly Field['type'][] = ['string', 'text', 'integer', 'bigInteger', 'decimal', 'float', 'uuid'];

const searchable = (collection: Collection): readonly FieldUse[] =>
  [...collection.fields.values()]
    .filter(
      (field) => field.column && !field.concealed && SEARCHED.includes(field.type) && field.meta?.searchable !== false,
    )
    .map((field) => ({ field }));

function parseMeta(raw: unknown): Read['meta'] {
  const all = ['total_count', 'filter_count'] as const;
  const names = textList(typeof raw === 'string' && raw.startsWith('[') ? fromJson(raw, ['meta']) : raw, ['meta']);
  if (names.includes('*')) return all;
  return names.map((name) => {
    const known = all.find((one) => one === name);
    if (!known) throw invalid(`"${name.slice(0, 40)}" is neither total_count nor filter_count`, ['meta']);
    return known;
  });
}

/** A filter by itself. */
export const parseWhere = (
  collection: Collection,
  raw: unknown,
  overview: Parse['overview'],
  ceilings: Ceilings,
  trusted: boolean,
) =>
  parseFilter(
    { overview, ceilings, trusted, visible: () => true, onUnknown: () => {}, spent: { nodes: 0 } },
    collection,
    raw,
    ['filter'],
  );

export { EVERYTHING };
