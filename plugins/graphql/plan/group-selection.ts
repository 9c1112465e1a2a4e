import type { FieldNode, GraphQLField } from 'graphql';
import type { GroupSelection, GroupSelectionItem } from '../../query/contract.ts';
import { graphqlFieldBindingOf } from '../schema/field-bindings.ts';
import { type CollectedField, collectFields, selectionSetsOf } from './collect-fields.ts';
import { graphqlArgumentsToListParameters } from './list-parameters.ts';
import { type GraphqlSelectionContext, objectTypeOfField } from './selection.ts';

/** Converts the selection of `<c>_aggregated` into a selection of groups. */
export function toGroupSelection(
  context: GraphqlSelectionContext,
  field: GraphQLField<unknown, unknown>,
  nodes: readonly [FieldNode, ...FieldNode[]],
): GroupSelection {
  const parameters = graphqlArgumentsToListParameters(context, field, nodes[0]);
  const groups = collectFields(context, objectTypeOfField(field), selectionSetsOf(nodes)).map((one) =>
    toGroupItem(context, field, one),
  );
  return { ...(parameters ? { parameters: parameters } : {}), groups };
}

type AggregateItem = Extract<GroupSelectionItem, { kind: 'aggregate' }>['of'][number];

function toGroupItem(
  context: GraphqlSelectionContext,
  parentField: GraphQLField<unknown, unknown>,
  { key, field, nodes }: CollectedField,
) {
  if (field.name === '__typename') return typeNameItem(key, parentField);
  const binding = graphqlFieldBindingOf(field);
  switch (binding?.kind) {
    case 'groups':
    case 'count':
      return { kind: binding.kind, key };
    case 'aggregate': {
      const items = collectFields(context, objectTypeOfField(field), selectionSetsOf(nodes)).map((one) =>
        toAggregateItem(field, one),
      );
      return { kind: 'aggregate', key, name: binding.name, of: items } as const;
    }
    default:
      throw new Error(`${field.name} has no binding for a group`);
  }
}

function toAggregateItem(parentField: GraphQLField<unknown, unknown>, { key, field }: CollectedField): AggregateItem {
  if (field.name === '__typename') return typeNameItem(key, parentField);
  const binding = graphqlFieldBindingOf(field);
  if (binding?.kind === 'aggregated field') return { kind: 'field', key, field: binding.field };
  throw new Error(`${field.name} is no field of an aggregate`);
}

const typeNameItem = (key: string, parentField: GraphQLField<unknown, unknown>) =>
  ({ kind: 'constant', key, value: objectTypeOfField(parentField).name }) as const;
