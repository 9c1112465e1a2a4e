import type { Log } from '#kernel';
import { fieldNameOf, type OwnedField } from './distinct-fields.ts';

/**
 * Logs each contributed GraphQL field that is left out because another field has its name, once for as long as it is
 * left out.
 */
export function createRefusedReporter(log: Pick<Log, 'warn'>): (refused: readonly OwnedField[]) => void {
  let reported: readonly OwnedField[] = [];
  return (refused) => {
    for (const one of refused.filter(({ value }) => !reported.some((other) => other.value === value))) {
      const { owner, value } = one;
      const field = fieldNameOf(value.definition);
      log.warn(
        { extension: owner, field },
        `${owner}: the GraphQL field ${field} is left out: another plugin has contributed a field with this name before`,
      );
    }
    reported = refused;
  };
}
