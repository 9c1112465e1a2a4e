import type { FieldNode, GraphQLField } from 'graphql';
import type { GroupSelection, SelectedGroup } from '../../query/contract.ts';
import { bindingOf } from '../schema/binding.ts';
import { type Collected, collect, setsOf } from './collect.ts';
import { objectTypeOf, type Translating } from './selection.ts';
import { termsOf } from './terms.ts';

/** What `<c>_aggregated` asks of the groups of a collection. */
export function groupSelectionOf(
  reading: Translating,
  field: GraphQLField<unknown, unknown>,
  nodes: readonly [FieldNode, ...FieldNode[]],
): GroupSelection {
  const terms = termsOf(reading, field, nodes[0]);
  const groups = collect(reading, objectTypeOf(field), setsOf(nodes)).map((one) => groupOf(reading, field, one));
  return { ...(terms ? { terms } : {}), groups };
}

type Aggregated = Extract<SelectedGroup, { kind: 'aggregate' }>['of'][number];

function groupOf(reading: Translating, of: GraphQLField<unknown, unknown>, { key, field, nodes }: Collected) {
  if (field.name === '__typename') return constant(key, of);
  const binding = bindingOf(field);
  switch (binding?.kind) {
    case 'groups':
    case 'count':
      return { kind: binding.kind, key };
    case 'aggregate': {
      const inner = collect(reading, objectTypeOf(field), setsOf(nodes)).map((one) => aggregatedOf(field, one));
      return { kind: 'aggregate', key, name: binding.name, of: inner } as const;
    }
    default:
      throw new Error(`${field.name} stands for nothing in a group`);
  }
}

function aggregatedOf(of: GraphQLField<unknown, unknown>, { key, field }: Collected): Aggregated {
  if (field.name === '__typename') return constant(key, of);
  const binding = bindingOf(field);
  if (binding?.kind === 'aggregated field') return { kind: 'field', key, field: binding.field };
  throw new Error(`${field.name} is no field of an aggregate`);
}

const constant = (key: string, of: GraphQLField<unknown, unknown>) =>
  ({ kind: 'constant', key, value: objectTypeOf(of).name }) as const;
