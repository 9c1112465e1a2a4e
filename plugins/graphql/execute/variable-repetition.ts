import type { OperationDefinitionNode } from 'graphql';
import { schemaIndependentFailure } from '../document/limits.ts';
import { countVariableUses } from '../plan/variable-uses.ts';
import type { GraphqlOperationRun } from './operation-run.ts';

/**
 * Characters that variables may add by being used several times. Each use is processed again: a body of a megabyte in
 * fifty root fields would block other requests for seconds.
 */
const MAX_REPEATED_CHARACTERS = 250_000;

/** Variables that an operation uses more than once; most documents have none. */
const repeatedVariables = new WeakMap<OperationDefinitionNode, readonly (readonly [name: string, times: number])[]>();

/** @throws DocumentFailure when the repeated values of variables exceed the limit. */
export function assertVariableRepetitionLimit({
  document,
  node,
  coercedVariables,
}: Pick<GraphqlOperationRun, 'document' | 'node' | 'coercedVariables'>): void {
  const uses =
    repeatedVariables.get(node) ?? [...countVariableUses(node, document.fragments)].filter(([, times]) => times > 1);
  repeatedVariables.set(node, uses);
  let characters = 0;
  for (const [name, times] of uses)
    characters += (times - 1) * (JSON.stringify(coercedVariables.coerced[name])?.length ?? 0);
  if (characters > MAX_REPEATED_CHARACTERS)
    throw schemaIndependentFailure(
      `The document uses large variables too often: repeated, they make more than ${MAX_REPEATED_CHARACTERS} characters.`,
    );
}
