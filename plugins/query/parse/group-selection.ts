import type { Collection } from '../../schema/contract.ts';
import type { Aggregation, GroupSelection, Read, SelectedGroup, GroupProjection } from '../contract.ts';
import { aggregateOf } from '../library.ts';
import { parseAggregateParts, withGroupOrder } from './aggregate.ts';
import { assertParametersDepth } from './depth.ts';
import type { NodePosition } from './node-position.ts';
import { type ParseContext, countPart } from './parse-context.ts';
import { parseListParameters } from './list-parameters.ts';

/** Groups as a selection asks for them: computed as those of a query, each function once, however often it is shown. */
export function parseGroupSelection(scope: ParseContext, collection: Collection, selection: GroupSelection, place: NodePosition): Read {
  const { terms = {}, groups } = selection;
  assertParametersDepth(terms, scope.ceilings.depth, [], place.depth);
  countPart(scope, []);
  for (const one of groups) {
    countPart(scope, [one.key]);
    if (one.kind === 'aggregate') for (const { key } of one.of) countPart(scope, [one.key, key]);
  }
  const raw = { aggregate: aggregateOf(groups), groupBy: terms.groupBy };
  const found = parseAggregateParts(scope, collection, raw, new Map(), []);
  // Rows are counted without being shown where nothing else makes one row of them.
  const isNothing = found.groups.length === 0 && found.functions.length === 0;
  const functions: Aggregation['functions'] = isNothing ? [{ name: 'countAll', key: '*', use: null }] : found.functions;
  return {
    ...parseListParameters(scope, collection, terms, [], place),
    aggregate: {
      ...withGroupOrder({ ...found, functions }, terms.sort, []),
      projections: groups.map((one) => toGroupProjection(one, functions)),
    },
    order: [],
    pick: [],
    exact: true,
  };
}

function toGroupProjection(one: SelectedGroup, functions: Aggregation['functions']): GroupProjection {
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
        projections: one.of.map((inner) =>
          inner.kind === 'constant' ? inner : { kind: 'function', key: inner.key, at: place(one.name, inner.field) },
        ),
      };
  }
}
