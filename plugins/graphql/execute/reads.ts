import { getArgumentValues } from 'graphql';
import type { ReadText, RowStream } from '../../query/contract.ts';
import { toGroupSelection } from '../plan/groups.ts';
import { withPlaceholders } from '../plan/operands.ts';
import { toPayload } from '../plan/payload.ts';
import type { RootField } from '../plan/root-fields.ts';
import { toSelection } from '../plan/selection.ts';
import type { RootBinding } from '../schema/binding.ts';
import { createTranslation, type ExecuteDeps, type OperationRun } from './operation-run.ts';

export type ReadBinding = Extract<RootBinding, { readonly kind: 'list' | 'singleton' | 'by id' | 'aggregated' }>;

/** Reads rows or groups by one statement. A cached statement skips the translation of the selection. */
export function readRoot(
  deps: ExecuteDeps,
  run: OperationRun,
  root: RootField,
  { kind, collection }: ReadBinding,
  inParts?: 'long',
): Promise<ReadText | RowStream> {
  const { field, nodes } = root;
  const translate = kind === 'aggregated' ? toGroupSelection : toSelection;
  const { text, placeholders } = root.parameterize(run.coercedVariables);
  return deps.items.select(run.call.caller, collection, {
    selection: (isOpen) =>
      translate(
        createTranslation(
          deps,
          isOpen ? { ...run, coercedVariables: withPlaceholders(run.coercedVariables, placeholders) } : run,
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
const readKeyArgument = ({ field, nodes }: RootField, { coercedVariables }: OperationRun): unknown =>
  toPayload(
    field.args.find(({ name }) => name === 'id')?.type,
    getArgumentValues(field, nodes[0], coercedVariables).id,
  );

/** The JSON text of an answer that was not requested in parts. */
export const jsonTextOf = (answer: ReadText | RowStream): string => (answer as ReadText).data ?? 'null';
