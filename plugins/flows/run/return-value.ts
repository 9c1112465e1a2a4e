import type { RunOutcome } from './run-chain.ts';
import { readPath } from './templates.ts';

/** What a run hands back, as the option `return` names it: `$last`, `$all`, or a path such as the key of an operation. */
export function returnValueOf({ data, secrets }: RunOutcome, option: unknown): unknown {
  const name = typeof option === 'string' && option !== '' ? option : '$last';
  // The whole data of a run holds what other operations and the caller's request contain.
  if (name === '$all') return secrets.redact(data);
  return readPath(data, name) ?? null;
}
