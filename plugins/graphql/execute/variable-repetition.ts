import type { OperationDefinitionNode } from 'graphql';
import { schemaIndependentFailure } from '../document/limits.ts';
import { countVariableUses } from '../plan/variable-uses.ts';
import type { OperationRun } from './operation-run.ts';

/**
 * Characters that variables may make beside the ones that were sent, by standing in several places: each is gone through
 * once more, and a body of a megabyte in fifty root fields would keep others waiting for seconds.
 */
const MAX_REPEATED_CHARACTERS = 250_000;

/** Of variables that stand in more than one place; most documents have none. */
const repeatedVariables = new WeakMap<OperationDefinitionNode, readonly (readonly [name: string, times: number])[]>();

/** Throws a DocumentFailure where the variables, put in wherever they stand, are much more than what was sent. */
export function assertVariableRepetition({ document, node, coercedVariables }: OperationRun): void {
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
