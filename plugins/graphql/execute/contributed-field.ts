import { getArgumentValues, OperationTypeNode } from 'graphql';
import type { Key } from '../../items/contract.ts';
import type { ContributedGraphqlField } from '../contract.ts';
import { schemaIndependentFailure } from '../document/limits.ts';
import type { SelectedRootField } from '../plan/root-fields.ts';
import { graphqlFieldToSelection } from '../plan/selection.ts';
import { executeByGraphqlPackage } from './execute-by-graphql-package.ts';
import { createGraphqlSelectionContext, type GraphqlExecutionDeps, type GraphqlOperationRun } from './operation-run.ts';
import { toObjectsWithPrototype } from './plain-argument-objects.ts';
import { precheckMutationSelection, readBackRow } from './read-back.ts';
import { readResultTextOf } from './reads.ts';
import type { RootFieldResult } from './root-result.ts';

/**
 * Executes a field of another plugin, which resolves to a value, or to the key of a row that is read like any other.
 */
export async function resolveContributedGraphqlField(
  deps: GraphqlExecutionDeps,
  run: GraphqlOperationRun,
  root: SelectedRootField,
  field: ContributedGraphqlField,
): Promise<RootFieldResult> {
  const args = toObjectsWithPrototype(getArgumentValues(root.field, root.nodes[0], run.coercedVariables)) as Record<
    string,
    unknown
  >;
  const { row } = field;
  if (row === undefined) return executeByGraphqlPackage(run, root, await field.resolve(args, run.call));
  const isWrite = run.node.operation === OperationTypeNode.MUTATION;
  const selection = isWrite ? await precheckMutationSelection(deps, run, root) : undefined;
  const key = (await field.resolve(args, run.call)) as Key | null | undefined;
  if (key === null || key === undefined) return { text: 'null' };
  if (selection) return { text: await readBackRow(deps, run, row, root, selection, key) };
  const answer = await deps.items.select(run.call.caller, row, {
    selection: () => graphqlFieldToSelection(createGraphqlSelectionContext(deps, run), root.field, root.nodes),
    text: root.cacheText(run.coercedVariables),
    key,
  });
  return { text: readResultTextOf(answer) };
}

/**
 * Refuses a second field with `once` in a request, so that one request cannot try several secrets.
 * @throws DocumentFailure
 */
export function assertAtMostOneOnceField(roots: readonly SelectedRootField[]): void {
  const [, second] = roots.filter(({ binding }) => binding?.kind === 'contributed' && binding.field.once);
  if (second)
    throw schemaIndependentFailure(
      `${second.field.name}: a request may have one field of this kind, and this is the second.`,
      second.nodes[0],
    );
}
