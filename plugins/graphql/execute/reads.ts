import { getArgumentValues } from 'graphql';
import type { ReadResultText, RowStream } from '../../query/contract.ts';
import { toGroupSelection } from '../plan/group-selection.ts';
import { withVariablePlaceholders } from '../plan/operand-variables.ts';
import { graphqlInputToPayload } from '../plan/payload.ts';
import type { SelectedRootField } from '../plan/root-fields.ts';
import { graphqlFieldToSelection } from '../plan/selection.ts';
import type { RootFieldBinding } from '../schema/field-bindings.ts';
import { createGraphqlSelectionContext, type GraphqlExecutionDeps, type GraphqlOperationRun } from './operation-run.ts';

export type ReadFieldBinding = Extract<
  RootFieldBinding,
  { readonly kind: 'list' | 'singleton' | 'by id' | 'aggregated' }
>;

/** Reads rows or groups by one statement. A cached statement skips the translation of the selection. */
export function readRootField(
  deps: GraphqlExecutionDeps,
  run: GraphqlOperationRun,
  root: SelectedRootField,
  { kind, collection }: ReadFieldBinding,
  inParts?: 'long',
): Promise<ReadResultText | RowStream> {
  const { field, nodes } = root;
  const translate = kind === 'aggregated' ? toGroupSelection : graphqlFieldToSelection;
  const { text, placeholders } = root.parameterize(run.coercedVariables);
  return deps.items.select(run.call.caller, collection, {
    selection: (isOpen) =>
      translate(
        createGraphqlSelectionContext(
          deps,
          isOpen ? { ...run, coercedVariables: withVariablePlaceholders(run.coercedVariables, placeholders) } : run,
        ),
        field,
        nodes,
      ),
    text,
    placeholders,
    ...(kind === 'by id' ? { key: readKeyArgument(root, run) } : {}),
    ...(inParts ? { streaming: inParts } : {}),
  });
}

/** The argument `id` in the form of REST. */
const readKeyArgument = ({ field, nodes }: SelectedRootField, { coercedVariables }: GraphqlOperationRun): unknown =>
  graphqlInputToPayload(
    field.args.find(({ name }) => name === 'id')?.type,
    getArgumentValues(field, nodes[0], coercedVariables).id,
  );

/** The JSON text of an answer that was not requested in parts. */
export const readResultTextOf = (answer: ReadResultText | RowStream): string =>
  (answer as ReadResultText).data ?? 'null';
