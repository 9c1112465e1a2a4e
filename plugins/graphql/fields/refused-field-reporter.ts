import type { Log } from '#kernel';
import { type OwnedGraphqlField, parseGraphqlFieldName } from './unique-contributed-fields.ts';

/**
 * Logs each contributed GraphQL field that is left out because another field has its name, once for as long as it is
 * left out.
 */
export function createRefusedFieldReporter(log: Pick<Log, 'warn'>): (refused: readonly OwnedGraphqlField[]) => void {
  let reported: readonly OwnedGraphqlField[] = [];
  return (refused) => {
    for (const one of refused.filter(({ value }) => !reported.some((other) => other.value === value))) {
      const { owner, value } = one;
      const field = parseGraphqlFieldName(value.definition);
      log.warn(
        { extension: owner, field },
        `${owner}: the GraphQL field ${field} is left out: another plugin has contributed a field with this name before`,
      );
    }
    reported = refused;
  };
}
