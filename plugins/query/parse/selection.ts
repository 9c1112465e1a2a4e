import type { Collection } from '../../schema/contract.ts';
import type { GroupSelection, Projection, ReadNode, RowSelection, SelectionItem } from '../contract.ts';
import { createUnknownFieldFailure } from '../library.ts';
import { assertParametersDepth, assertRelationalDepth } from './depth.ts';
import { parseFieldFunction } from './functions.ts';
import { parseGroupSelection } from './group-selection.ts';
import { parseNodeListParameters } from './list-parameters.ts';
import {
  findManyToAnyCollections,
  positionBehindRelation,
  type QueryNodePosition,
  withoutPagingAndOrder,
} from './node-position.ts';
import { countQueryPart, type QueryParseContext, resolveCollection, resolveField } from './parse-context.ts';
import { parseJsonPath } from './path-steps.ts';
import { errorPathOfParameter, type QueryErrorPath } from './raw-values.ts';
import { parseSort, withDefaultOrder } from './sort.ts';

/** The keys of a selection are not aliases: conditions and sort cannot name them. */
const NO_ALIASES: ReadonlyMap<string, string> = new Map();

export const parseSelection = (
  context: QueryParseContext,
  collection: Collection,
  selection: RowSelection | GroupSelection,
  position: QueryNodePosition,
): ReadNode =>
  'groups' in selection
    ? parseGroupSelection(context, collection, selection, position)
    : parseRowSelection(context, collection, selection, [], position);

/** Parses a node of a selection, with the parameters and ceilings of a node of a query. */
function parseRowSelection(
  context: QueryParseContext,
  collection: Collection,
  { parameters: terms = {}, items: shown }: RowSelection,
  path: QueryErrorPath,
  position: QueryNodePosition,
): ReadNode {
  assertParametersDepth(terms, context.ceilings.depth, path, position.depth);
  countQueryPart(context, path);
  return {
    ...parseNodeListParameters(context, collection, terms, path, position),
    order: withDefaultOrder(
      collection,
      parseSort(context, collection, terms.sort, NO_ALIASES, errorPathOfParameter(path, 'sort')),
      position.sortField,
    ),
    projections: shown.map((one) => parseSelectionItem(context, collection, one, path, position)),
    exact: true,
  };
}

/**
 * Parses an item of a selection. A field of another kind than the item is an unknown one: the selection was made for an older or
 * newer schema.
 */
function parseSelectionItem(
  context: QueryParseContext,
  collection: Collection,
  one: SelectionItem,
  path: QueryErrorPath,
  position: QueryNodePosition,
): Projection {
  const { key } = one;
  const at = [...path, key];
  countQueryPart(context, at);
  if (one.kind === 'constant') return { kind: 'constant', key, value: one.value };
  if (one.kind === 'object')
    return {
      kind: 'object',
      key,
      projections: one.items.map((inner) => parseSelectionItem(context, collection, inner, at, position)),
    };
  assertRelationalDepth(position.depth + 1, context.ceilings.depth, at);
  const field = resolveField(context, collection, one.field);
  const { relation } = field;
  const behind = (to: Collection, selection: RowSelection): ReadNode =>
    parseRowSelection(context, to, selection, at, relation ? positionBehindRelation(position, relation) : position);

  if (one.kind === 'column') {
    const { fn, as } = one;
    const form = as ? { as } : {};
    const steps = fn?.path === undefined ? [] : parseJsonPath(fn.path, at);
    if (fn)
      return {
        kind: 'column',
        key,
        field,
        fn: parseFieldFunction(context, field, { name: fn.name, path: steps }, at),
        ...form,
      };
    if (field.column || field.parts) return { kind: 'column', key, field, ...form };
  } else if (one.kind === 'related') {
    if (relation?.kind === 'many')
      return { kind: 'many', key, field, read: behind(resolveCollection(context, relation.to), one.selection) };
    if (relation?.kind === 'one')
      return {
        kind: 'one',
        key,
        field,
        read: withoutPagingAndOrder(behind(resolveCollection(context, relation.to), one.selection)),
      };
  } else if (relation?.kind === 'any') {
    const by = collection.fields.get(relation.collectionField);
    const reads = findManyToAnyCollections(context, relation).flatMap((to) => {
      const selection = Object.hasOwn(one.of, to.name) ? one.of[to.name] : undefined;
      return selection ? [withoutPagingAndOrder(behind(to, selection))] : [];
    });
    if (by?.column) return { kind: 'any', key, field, by, reads, strict: true };
  }
  throw createUnknownFieldFailure(one.field, collection.name);
}
