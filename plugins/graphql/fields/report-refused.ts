import type { Log } from '#kernel';
import { nameOf, type Owned } from './distinct.ts';

/** Logs each field that is left out because another one has its name, once for as long as it is left out. */
export function reportRefused(log: Pick<Log, 'warn'>): (refused: readonly Owned[]) => void {
  let reported: readonly Owned[] = [];
  return (refused) => {
    for (const one of refused.filter(({ value }) => !reported.some((other) => other.value === value))) {
      const { owner, value } = one;
      const field = nameOf(value.definition);
      log.warn(
        { extension: owner, field },
        `${owner}: the GraphQL field ${field} is left out, since there is one already`,
      );
    }
    reported = refused;
  };
}
