import type { Collection } from '../../schema/contract.ts';
import type { Parse, RawQuery, Read, Where } from '../contract.ts';
import { assertDeepDepth, assertFilterDepth, assertTermsDepth } from './depth.ts';
import { parseFields } from './fields.ts';
import { parseFilter } from './filter.ts';
import { type Node, parseNode } from './node.ts';
import { parseMeta } from './parameters.ts';
import type { Place } from './related.ts';
import type { Ceilings, Scope } from './scope.ts';
import { parseSelected } from './select.ts';
import { fromJson, invalid, isObject } from './shape.ts';

/** Query → tree (architecture, section 4). Nothing here knows who asks: `access` narrows what comes out. */
export function parseRead(collection: Collection, raw: RawQuery, options: Parse, ceilings: Ceilings): Read {
  const scope: Scope = {
    overview: options.overview,
    ceilings,
    trusted: false,
    strict: options.unlimited ?? false,
    backlink: raw.backlink !== false && raw.backlink !== 'false',
    visible: options.visible ?? (() => true),
    onUnknown: options.onUnknown ?? (() => {}),
    spent: { nodes: 0 },
    given: [],
  };
  const place = { depth: 0, unlimited: options.unlimited ?? false, manual: null };
  const read = options.selection
    ? parseSelected(scope, collection, options.selection, place)
    : parseRaw(scope, collection, raw, place);
  return {
    ...read,
    ...(options.single ? { single: true, limit: 1, offset: 0 } : {}),
    ...(scope.given.length > 0 ? { given: scope.given } : {}),
    ...(options.keys ? { keys: options.keys, limit: null, offset: 0 } : {}),
  };
}

function parseRaw(scope: Scope, collection: Collection, raw: RawQuery, place: Place): Read {
  if (raw.version !== undefined) throw invalid('is not supported yet', ['version']);
  const deep = fromJson(raw.deep, ['deep']);
  if (deep !== undefined && deep !== null && !isObject(deep)) throw invalid('must be an object', ['deep']);
  // At the root of `deep` only relations have a meaning; other keys with an underscore are ignored.
  const relations = Object.entries(deep ?? {}).filter(([name]) => !name.startsWith('_'));
  const node: Node = { ...raw, filter: fromJson(raw.filter, ['filter']), below: Object.fromEntries(relations) };
  const { depth } = scope.ceilings;
  assertTermsDepth(node, depth, [], 0);
  assertDeepDepth(deep ?? {}, depth);
  const read = parseNode(scope, collection, parseFields(raw.fields, ['fields'], depth), node, [], place);
  return { ...read, meta: parseMeta(raw.meta) };
}

/** A filter by itself. `trusted` ones are permission rules. */
export function parseWhere(
  collection: Collection,
  raw: unknown,
  overview: Parse['overview'],
  ceilings: Ceilings,
  trusted: boolean,
): Where {
  const anything = { visible: () => true, onUnknown: () => {}, backlink: true };
  const scope: Scope = { overview, ceilings, trusted, strict: trusted, ...anything, spent: { nodes: 0 }, given: [] };
  assertFilterDepth(raw, ceilings.depth, ['filter']);
  return parseFilter(scope, collection, raw, ['filter']);
}
