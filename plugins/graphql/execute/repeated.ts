import type { OperationDefinitionNode } from 'graphql';
import { beyond } from '../document/limits.ts';
import { usesOf } from '../plan/uses.ts';
import type { Run } from './run.ts';

/**
 * Characters that variables may make beside the ones that were sent, by standing in several places: each is gone through
 * once more, and a body of a megabyte in fifty root fields would keep others waiting for seconds.
 */
const MOST_REPEATED = 250_000;

/** Of variables that stand in more than one place; most documents have none. */
const repeated = new WeakMap<OperationDefinitionNode, readonly (readonly [name: string, times: number])[]>();

/** Throws a DocumentFailure where the variables, put in wherever they stand, are much more than what was sent. */
export function checkRepeated({ document, node, coerced }: Run): void {
  const uses = repeated.get(node) ?? [...usesOf(node, document.fragments)].filter(([, times]) => times > 1);
  repeated.set(node, uses);
  let characters = 0;
  for (const [name, times] of uses) characters += (times - 1) * (JSON.stringify(coerced.coerced[name])?.length ?? 0);
  if (characters > MOST_REPEATED)
    throw beyond(
      `The document uses large variables too often: repeated, they make more than ${MOST_REPEATED} characters.`,
    );
}
