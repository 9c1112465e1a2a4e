import type { Collection } from '../../schema/contract.ts';
import type { GroupSelection, Pick, Read, Selected, Selection } from '../contract.ts';
import { unknownField } from '../library.ts';
import { assertDepth, assertParametersDepth } from './depth.ts';
import { parseFunction } from './functions.ts';
import { parseJsonPath } from './path-steps.ts';
import { readableTargets, toSingleRow, type NodePosition, relatedPosition } from './node-position.ts';
import { resolveCollection, resolveField, type ParseContext, countPart } from './parse-context.ts';
import { parseGroupSelection } from './group-selection.ts';
import { type QueryPath, parameterPath } from './raw-values.ts';
import { parseSort, withDefaultOrder } from './sort.ts';
import { parseListParameters } from './list-parameters.ts';

/** What a document calls things has no meaning in conditions. */
const NO_ALIASES: ReadonlyMap<string, string> = new Map();

export const parseSelection = (
  scope: ParseContext,
  collection: Collection,
  selection: Selection | GroupSelection,
  place: NodePosition,
): Read =>
  'groups' in selection
    ? parseGroupSelection(scope, collection, selection, place)
    : parseRowSelection(scope, collection, selection, [], place);

/** One node of a selection: the same conditions and ceilings as a node of a query, and exactly what it says is shown. */
function parseRowSelection(
  scope: ParseContext,
  collection: Collection,
  { terms = {}, shown }: Selection,
  path: QueryPath,
  place: NodePosition,
): Read {
  assertParametersDepth(terms, scope.ceilings.depth, path, place.depth);
  countPart(scope, path);
  return {
    ...parseListParameters(scope, collection, terms, path, place),
    order: withDefaultOrder(
      collection,
      parseSort(scope, collection, terms.sort, NO_ALIASES, parameterPath(path, 'sort')),
      place.sortField,
    ),
    pick: shown.map((one) => parseSelectionItem(scope, collection, one, path, place)),
    exact: true,
  };
}

/**
 * A field of another kind than the selection has it is one that is not there: whoever made the selection had another
 * overview in mind, older or newer.
 */
function parseSelectionItem(scope: ParseContext, collection: Collection, one: Selected, path: QueryPath, place: NodePosition): Pick {
  const { key } = one;
  const at = [...path, key];
  countPart(scope, at);
  if (one.kind === 'constant') return { kind: 'constant', key, value: one.value };
  if (one.kind === 'object')
    return { kind: 'object', key, pick: one.shown.map((inner) => parseSelectionItem(scope, collection, inner, at, place)) };
  assertDepth(place.depth + 1, scope.ceilings.depth, at);
  const field = resolveField(scope, collection, one.field);
  const { relation } = field;
  const behind = (to: Collection, selection: Selection): Read =>
    parseRowSelection(scope, to, selection, at, relation ? relatedPosition(place, relation) : place);

  if (one.kind === 'column') {
    const { fn, as } = one;
    const form = as ? { as } : {};
    const steps = fn?.path === undefined ? [] : parseJsonPath(fn.path, at);
    if (fn) return { kind: 'column', key, field, fn: parseFunction(scope, field, { name: fn.name, path: steps }, at), ...form };
    if (field.column || field.parts) return { kind: 'column', key, field, ...form };
  } else if (one.kind === 'related') {
    if (relation?.kind === 'many')
      return { kind: 'many', key, field, read: behind(resolveCollection(scope, relation.to), one.selection) };
    if (relation?.kind === 'one')
      return { kind: 'one', key, field, read: toSingleRow(behind(resolveCollection(scope, relation.to), one.selection)) };
  } else if (relation?.kind === 'any') {
    const by = collection.fields.get(relation.by);
    const reads = readableTargets(scope, relation).flatMap((to) => {
      const selection = Object.hasOwn(one.of, to.name) ? one.of[to.name] : undefined;
      return selection ? [toSingleRow(behind(to, selection))] : [];
    });
    if (by?.column) return { kind: 'any', key, field, by, reads, strict: true };
  }
  throw unknownField(one.field, collection.name);
}
