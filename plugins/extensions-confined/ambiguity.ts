import type { ReasonCode, ServerType } from '../extensions/contract.ts';
import { LoadFailure } from '../extensions/library.ts';
import type { Gated } from './gate/gate.ts';
import type { Contribution } from './gate/identity.ts';

const CODES = {
  endpoint: 'AMBIGUOUS_ENDPOINT',
  hook: 'AMBIGUOUS_HOOK',
  operation: 'AMBIGUOUS_OPERATION',
} as const satisfies Record<ServerType, ReasonCode>;

/** Names a contribution among all: the package's id alone where it has one of its own. */
export const placeOf = ({ found }: Pick<Gated, 'found'>, { key }: Pick<Contribution, 'key'>): string =>
  key === '' ? found.id : `${found.id} ${key}`;

/** Contributions of one kind that call themselves the same: none of them is loaded, so that none takes another's place. */
export function ambiguities(all: readonly Gated[]): ReadonlyMap<string, LoadFailure> {
  const byName = new Map<string, { readonly place: string; readonly type: ServerType; readonly id: string }[]>();
  for (const gated of all) {
    for (const contribution of gated.contributions) {
      const { type, id } = contribution;
      const name = `${type}:${type === 'endpoint' ? id.toLowerCase() : id}`;
      byName.set(name, [...(byName.get(name) ?? []), { place: placeOf(gated, contribution), type, id }]);
    }
  }
  const several = [...byName.values()].filter((same) => same.length > 1).flat();
  return new Map(
    several.map(({ place, type, id }) => [
      place,
      new LoadFailure(CODES[type], `More than one confined ${type} is called "${id.slice(0, 80)}".`),
    ]),
  );
}
