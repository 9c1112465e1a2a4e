import type { Collection } from '../../schema/contract.ts';
import type { Aggregation, GroupProjection, GroupSelection, GroupSelectionItem, ReadNode } from '../contract.ts';
import { toAggregateParameter } from '../library.ts';
import { parseGroupsAndAggregates, withGroupOrder } from './aggregate.ts';
import { assertParametersDepth } from './depth.ts';
import { parseNodeListParameters } from './list-parameters.ts';
import type { QueryNodePosition } from './node-position.ts';
import { countQueryPart, type QueryParseContext } from './parse-context.ts';

/** Parses a selection of groups. A function that is selected several times is computed once. */
export function parseGroupSelection(
  context: QueryParseContext,
  collection: Collection,
  selection: GroupSelection,
  position: QueryNodePosition,
): ReadNode {
  const { parameters: terms = {}, groups } = selection;
  assertParametersDepth(terms, context.ceilings.depth, [], position.depth);
  countQueryPart(context, []);
  for (const one of groups) {
    countQueryPart(context, [one.key]);
    if (one.kind === 'aggregate') for (const { key } of one.of) countQueryPart(context, [one.key, key]);
  }
  const raw = { aggregate: toAggregateParameter(groups), groupBy: terms.groupBy };
  const found = parseGroupsAndAggregates(context, collection, raw, new Map(), []);
  // Without groups and functions a count makes the answer one row.
  const isNothing = found.groups.length === 0 && found.functions.length === 0;
  const functions: Aggregation['functions'] = isNothing ? [{ name: 'countAll', key: '*', use: null }] : found.functions;
  return {
    ...parseNodeListParameters(context, collection, terms, [], position),
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
