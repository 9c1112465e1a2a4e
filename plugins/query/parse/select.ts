import type { Collection } from '../../schema/contract.ts';
import type { GroupSelection, Pick, Read, Selected, Selection } from '../contract.ts';
import { unknownField } from '../library.ts';
import { assertLevels, assertTermsDepth } from './depth.ts';
import { fnOf } from './functions.ts';
import { jsonPath } from './names.ts';
import { collectionsOf, ofOneRow, type Place, placeBehind } from './related.ts';
import { collectionNamed, knownField, type Scope, spend } from './scope.ts';
import { parseGroups } from './select-groups.ts';
import { type Path, parameterAt } from './shape.ts';
import { parseSort, withDefaults } from './sort.ts';
import { parseTerms } from './terms.ts';

/** What a document calls things has no meaning in conditions. */
const NO_ALIASES: ReadonlyMap<string, string> = new Map();

export const parseSelected = (
  scope: Scope,
  collection: Collection,
  selection: Selection | GroupSelection,
  place: Place,
): Read =>
  'groups' in selection
    ? parseGroups(scope, collection, selection, place)
    : parseSelection(scope, collection, selection, [], place);

/** One node of a selection: the same conditions and ceilings as a node of a query, and exactly what it says is shown. */
function parseSelection(
  scope: Scope,
  collection: Collection,
  { terms = {}, shown }: Selection,
  path: Path,
  place: Place,
): Read {
  assertTermsDepth(terms, scope.ceilings.depth, path, place.depth);
  spend(scope, path);
  return {
    ...parseTerms(scope, collection, terms, path, place),
    order: withDefaults(
      collection,
      parseSort(scope, collection, terms.sort, NO_ALIASES, parameterAt(path, 'sort')),
      place.manual,
    ),
    pick: shown.map((one) => pickOf(scope, collection, one, path, place)),
    exact: true,
  };
}

/**
 * A field of another kind than the selection has it is one that is not there: whoever made the selection had another
 * overview in mind, older or newer.
 */
function pickOf(scope: Scope, collection: Collection, one: Selected, path: Path, place: Place): Pick {
  const { key } = one;
  const at = [...path, key];
  spend(scope, at);
  if (one.kind === 'constant') return { kind: 'constant', key, value: one.value };
  if (one.kind === 'object')
    return { kind: 'object', key, pick: one.shown.map((inner) => pickOf(scope, collection, inner, at, place)) };
  assertLevels(place.depth + 1, scope.ceilings.depth, at);
  const field = knownField(scope, collection, one.field);
  const { relation } = field;
  const behind = (to: Collection, selection: Selection): Read =>
    parseSelection(scope, to, selection, at, relation ? placeBehind(place, relation) : place);

  if (one.kind === 'column') {
    const { fn, as } = one;
    const form = as ? { as } : {};
    const steps = fn?.path === undefined ? [] : jsonPath(fn.path, at);
    if (fn) return { kind: 'column', key, field, fn: fnOf(scope, field, { name: fn.name, path: steps }, at), ...form };
    if (field.column || field.parts) return { kind: 'column', key, field, ...form };
  } else if (one.kind === 'related') {
    if (relation?.kind === 'many')
      return { kind: 'many', key, field, read: behind(collectionNamed(scope, relation.to), one.selection) };
    if (relation?.kind === 'one')
      return { kind: 'one', key, field, read: ofOneRow(behind(collectionNamed(scope, relation.to), one.selection)) };
  } else if (relation?.kind === 'any') {
    const by = collection.fields.get(relation.by);
    const reads = collectionsOf(scope, relation).flatMap((to) => {
      const selection = Object.hasOwn(one.of, to.name) ? one.of[to.name] : undefined;
      return selection ? [ofOneRow(behind(to, selection))] : [];
    });
    if (by?.column) return { kind: 'any', key, field, by, reads, strict: true };
  }
  throw unknownField(one.field, collection.name);
}
