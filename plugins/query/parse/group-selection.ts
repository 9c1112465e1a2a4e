import type { Collection } from '../../schema/contract.ts';
import type { Aggregation, GroupProjection, GroupSelection, GroupSelectionItem, ReadNode } from '../contract.ts';
import { toAggregateParameter } from '../library.ts';
import { parseAggregateParts, withGroupOrder } from './aggregate.ts';
import { assertParametersDepth } from './depth.ts';
import { parseListParameters } from './list-parameters.ts';
import type { NodePosition } from './node-position.ts';
import { countQueryPart, type ParseContext } from './parse-context.ts';

/** Parses a selection of groups. A function that is selected several times is computed once. */
export function parseGroupSelection(
  context: ParseContext,
  collection: Collection,
  selection: GroupSelection,
  position: NodePosition,
): ReadNode {
  const { parameters: terms = {}, groups } = selection;
  assertParametersDepth(terms, context.ceilings.depth, [], position.depth);
  countQueryPart(context, []);
  for (const one of groups) {
    countQueryPart(context, [one.key]);
    if (one.kind === 'aggregate') for (const { key } of one.of) countQueryPart(context, [one.key, key]);
  }
  const raw = { aggregate: toAggregateParameter(groups), groupBy: terms.groupBy };
  const found = parseAggregateParts(context, collection, raw, new Map(), []);
  // Without groups and functions a count makes the answer one row.
  const isNothing = found.groups.length === 0 && found.functions.length === 0;
  const functions: Aggregation['functions'] = isNothing ? [{ name: 'countAll', key: '*', use: null }] : found.functions;
  return {
    ...parseListParameters(context, collection, terms, [], position),
    aggregate: {
      ...withGroupOrder({ ...found, functions }, terms.sort, []),
      projections: groups.map((one) => toGroupProjection(one, functions)),
    },
    order: [],
    projections: [],
    exact: true,
  };
}

function toGroupProjection(one: GroupSelectionItem, functions: Aggregation['functions']): GroupProjection {
  const { key } = one;
  const position = (name: string, field: string) => functions.findIndex((fn) => fn.name === name && fn.key === field);
  switch (one.kind) {
    case 'constant':
      return one;
    case 'groups':
      return { kind: 'groups', key };
    case 'count':
      return { kind: 'function', key, at: position('countAll', '*') };
    case 'aggregate':
      return {
        kind: 'object',
        key,
        projections: one.of.map((inner) =>
          inner.kind === 'constant' ? inner : { kind: 'function', key: inner.key, at: position(one.name, inner.field) },
        ),
      };
  }
}
