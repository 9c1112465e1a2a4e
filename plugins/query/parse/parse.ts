import type { Collection } from '../../schema/contract.ts';
import type { ConditionTree, ParseOptions, RawQuery, ReadNode } from '../contract.ts';
import { assertDeepParameterDepth, assertFilterDepth, assertParametersDepth } from './depth.ts';
import { parseFieldsParameter } from './fields.ts';
import { parseFilter } from './filter.ts';
import type { QueryNodePosition } from './node-position.ts';
import type { QueryCeilings, QueryParseContext } from './parse-context.ts';
import { createInvalidQueryFailure, isObject, parseJsonParameter } from './raw-values.ts';
import { parseReadNode, type QueryNodeParameters } from './read-node.ts';
import { parseMetaParameter } from './search-meta-alias.ts';
import { parseSelection } from './selection.ts';

/** Parses a query to a tree (architecture, section 4). The parser does not know the caller: `access` restricts the tree. */
export function parseQueryToTree(
  collection: Collection,
  raw: RawQuery,
  options: ParseOptions,
  ceilings: QueryCeilings,
): ReadNode {
  const context: QueryParseContext = {
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
    ...(options.rows ? { rows: { dynamic: 'rows' }, order: [], limit: null, offset: 0 } : {}),
    ...(options.keys ? { keys: options.keys, limit: null, offset: 0 } : {}),
  };
}

function parseRawQuery(
  context: QueryParseContext,
  collection: Collection,
  raw: RawQuery,
  position: QueryNodePosition,
): ReadNode {
  if (raw.version !== undefined) throw createInvalidQueryFailure('is not supported yet', ['version']);
  const deep = parseJsonParameter(raw.deep, ['deep']);
  if (deep !== undefined && deep !== null && !isObject(deep))
    throw createInvalidQueryFailure('must be an object', ['deep']);
  // At the root of `deep` keys with an underscore are ignored; the others are relations.
  const relations = Object.entries(deep ?? {}).filter(([name]) => !name.startsWith('_'));
  const node: QueryNodeParameters = {
    ...raw,
    filter: parseJsonParameter(raw.filter, ['filter']),
    below: Object.fromEntries(relations),
  };
  const { depth } = context.ceilings;
  assertParametersDepth(node, depth, [], 0);
  assertDeepParameterDepth(deep ?? {}, depth);
  const read = parseReadNode(
    context,
    collection,
    parseFieldsParameter(raw.fields, ['fields'], depth),
    node,
    [],
    position,
  );
  return { ...read, meta: parseMetaParameter(raw.meta) };
}

/** Parses a filter alone. Permission rules are `trusted`. */
export function parseStandaloneFilter(
  collection: Collection,
  raw: unknown,
  schema: ParseOptions['schema'],
  ceilings: QueryCeilings,
  trusted: boolean,
): ConditionTree {
  const anything = { isVisible: () => true, onUnknownField: () => {}, backlink: true };
  const context: QueryParseContext = {
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
