import type { Collection } from '../../schema/contract.ts';
import type { Aggregation, GroupSelection, Read, SelectedGroup, ShownGroup } from '../contract.ts';
import { aggregateOf } from '../library.ts';
import { aggregateParts, ordered } from './aggregate.ts';
import { assertTermsDepth } from './depth.ts';
import type { Place } from './related.ts';
import { type Scope, spend } from './scope.ts';
import { parseTerms } from './terms.ts';

/** Groups as a selection asks for them: computed as those of a query, each function once, however often it is shown. */
export function parseGroups(scope: Scope, collection: Collection, selection: GroupSelection, place: Place): Read {
  const { terms = {}, groups } = selection;
  assertTermsDepth(terms, scope.ceilings.depth, [], place.depth);
  spend(scope, []);
  for (const one of groups) {
    spend(scope, [one.key]);
    if (one.kind === 'aggregate') for (const { key } of one.of) spend(scope, [one.key, key]);
  }
  const raw = { aggregate: aggregateOf(groups), groupBy: terms.groupBy };
  const found = aggregateParts(scope, collection, raw, new Map(), []);
  // Rows are counted without being shown where nothing else makes one row of them.
  const isNothing = found.groups.length === 0 && found.functions.length === 0;
  const functions: Aggregation['functions'] = isNothing ? [{ name: 'countAll', key: '*', use: null }] : found.functions;
  return {
    ...parseTerms(scope, collection, terms, [], place),
    aggregate: {
      ...ordered({ ...found, functions }, terms.sort, []),
      shown: groups.map((one) => shownOf(one, functions)),
    },
    order: [],
    pick: [],
    exact: true,
  };
}

function shownOf(one: SelectedGroup, functions: Aggregation['functions']): ShownGroup {
  const { key } = one;
  const place = (name: string, field: string) => functions.findIndex((fn) => fn.name === name && fn.key === field);
  switch (one.kind) {
    case 'constant':
      return one;
    case 'groups':
      return { kind: 'groups', key };
    case 'count':
      return { kind: 'function', key, at: place('countAll', '*') };
    case 'aggregate':
      return {
        kind: 'object',
        key,
        shown: one.of.map((inner) =>
          inner.kind === 'constant' ? inner : { kind: 'function', key: inner.key, at: place(one.name, inner.field) },
        ),
      };
  }
}
