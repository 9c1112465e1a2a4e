import { getArgumentValues } from 'graphql';
import type { RowSelection, SelectionItem } from '../../query/contract.ts';
import type { RowChangeEvent } from '../contract.ts';
import { graphqlFieldBindingOf, type RowChangeFieldBinding } from '../schema/field-bindings.ts';
import { type CollectedField, collectFields, selectionSetsOf } from './collect-fields.ts';
import { type GraphqlSelectionContext, graphqlFieldToSelection, objectTypeOfField } from './selection.ts';

/** A member of `<c>_mutated` in the response, by its key. */
export type RowChangeMember =
  | { readonly kind: 'constant'; readonly key: string; readonly value: string }
  | { readonly kind: 'row key'; readonly key: string; readonly isReadable: boolean }
  | { readonly kind: 'event'; readonly key: string }
  | { readonly kind: 'data'; readonly key: string };

export interface RowChangeSelection {
  /** The argument `event`; undefined: every event. */
  readonly event: RowChangeEvent | undefined;
  /** The members in the order of the document. */
  readonly members: readonly RowChangeMember[];
  /** An object for each member `data`. */
  readonly rows: RowSelection;
}

/** Translates `<c>_mutated { … }`. */
export function toRowChangeSelection(
  context: GraphqlSelectionContext,
  { field, nodes }: Pick<CollectedField, 'field' | 'nodes'>,
): RowChangeSelection {
  const { event } = getArgumentValues(field, nodes[0], context.variables);
  const type = objectTypeOfField(field);
  const items: SelectionItem[] = [];
  const members = collectFields(context, type, selectionSetsOf(nodes)).map((one): RowChangeMember => {
    const { key } = one;
    if (one.field.name === '__typename') return { kind: 'constant', key, value: type.name };
    const binding = graphqlFieldBindingOf(one.field) as RowChangeFieldBinding;
    switch (binding.kind) {
      case 'changed key':
        return { kind: 'row key', key, isReadable: binding.isReadable };
      case 'change event':
        return { kind: 'event', key };
      default:
        items.push({ kind: 'object', key, items: graphqlFieldToSelection(context, one.field, one.nodes).items });
        return { kind: 'data', key };
    }
  });
  // Without data the response only says that the row is there.
  if (items.length === 0) items.push({ kind: 'constant', key: 'row', value: null });
  return { event: (event ?? undefined) as RowChangeEvent | undefined, members, rows: { items } };
}
