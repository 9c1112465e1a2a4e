import type { Collection } from '../../schema/contract.ts';
import type { ConditionTree, ParseOptions, RawQuery, ReadNode } from '../contract.ts';
import { assertDeepDepth, assertFilterDepth, assertParametersDepth } from './depth.ts';
import { parseFields } from './fields.ts';
import { parseFilter } from './filter.ts';
import { type NodeParameters, parseReadNode } from './node.ts';
import type { NodePosition } from './node-position.ts';
import type { ParseContext, QueryCeilings } from './parse-context.ts';
import { invalidQuery, isObject, parseJson } from './raw-values.ts';
import { parseMetaParameter } from './search-meta-alias.ts';
import { parseSelection } from './selection.ts';

/** Parses a query to a tree (architecture, section 4). The parser does not know the caller: `access` restricts the tree. */
export function parseRead(
  collection: Collection,
  raw: RawQuery,
  options: ParseOptions,
  ceilings: QueryCeilings,
): ReadNode {
  const context: ParseContext = {
    schema: options.schema,
    ceilings,
    trusted: false,
    strict: options.unlimited ?? false,
    backlink: raw.backlink !== false && raw.backlink !== 'false',
    isVisible: options.isVisible ?? (() => true),
    onUnknownField: options.onUnknownField ?? (() => {}),
    spent: { nodes: 0 },
    placeholders: [],
  };
  const position = { depth: 0, unlimited: options.unlimited ?? false, sortField: null };
  const read = options.selection
    ? parseSelection(context, collection, options.selection, position)
    : parseRawQuery(context, collection, raw, position);
  return {
    ...read,
    ...(options.single ? { single: true, limit: 1, offset: 0 } : {}),
    ...(context.placeholders.length > 0 ? { placeholders: context.placeholders } : {}),
    ...(options.keys ? { keys: options.keys, limit: null, offset: 0 } : {}),
  };
}

function parseRawQuery(context: ParseContext, collection: Collection, raw: RawQuery, position: NodePosition): ReadNode {
  if (raw.version !== undefined) throw invalidQuery('is not supported yet', ['version']);
  const deep = parseJson(raw.deep, ['deep']);
  if (deep !== undefined && deep !== null && !isObject(deep)) throw invalidQuery('must be an object', ['deep']);
  // At the root of `deep` keys with an underscore are ignored; the others are relations.
  const relations = Object.entries(deep ?? {}).filter(([name]) => !name.startsWith('_'));
  const node: NodeParameters = {
    ...raw,
    filter: parseJson(raw.filter, ['filter']),
    below: Object.fromEntries(relations),
  };
  const { depth } = context.ceilings;
  assertParametersDepth(node, depth, [], 0);
  assertDeepDepth(deep ?? {}, depth);
  const read = parseReadNode(context, collection, parseFields(raw.fields, ['fields'], depth), node, [], position);
  return { ...read, meta: parseMetaParameter(raw.meta) };
}

/** Parses a filter alone. Permission rules are `trusted`. */
export function parseWhere(
  collection: Collection,
  raw: unknown,
  schema: ParseOptions['schema'],
  ceilings: QueryCeilings,
  trusted: boolean,
): ConditionTree {
  const anything = { isVisible: () => true, onUnknownField: () => {}, backlink: true };
  const context: ParseContext = {
    schema,
    ceilings,
    trusted,
    strict: trusted,
    ...anything,
    spent: { nodes: 0 },
    placeholders: [],
  };
  assertFilterDepth(raw, ceilings.depth, ['filter']);
  return parseFilter(context, collection, raw, ['filter']);
}
