import type { ReasonCode, ServerType } from '../extensions/contract.ts';
import { LoadFailure } from '../extensions/library.ts';
import type { Contribution } from './gate/contributions.ts';
import type { GatedPackage } from './gate/gate.ts';

const CODES = {
  endpoint: 'AMBIGUOUS_ENDPOINT',
  hook: 'AMBIGUOUS_HOOK',
  operation: 'AMBIGUOUS_OPERATION',
} as const satisfies Record<ServerType, ReasonCode>;

/** Names a contribution among all: the package's id alone where it has one of its own. */
export const createContributionId = (
  { extension }: Pick<GatedPackage, 'extension'>,
  { key }: Pick<Contribution, 'key'>,
): string => (key === '' ? extension.id : `${extension.id} ${key}`);

/** Contributions of one kind that call themselves the same: none of them is loaded, so that none takes another's place. */
export function findAmbiguities(all: readonly GatedPackage[]): ReadonlyMap<string, LoadFailure> {
  const byName = new Map<string, { readonly place: string; readonly type: ServerType; readonly id: string }[]>();
  for (const gated of all) {
    for (const contribution of gated.contributions) {
      const { type, id } = contribution;
      const name = `${type}:${type === 'endpoint' ? id.toLowerCase() : id}`;
      byName.set(name, [...(byName.get(name) ?? []), { place: createContributionId(gated, contribution), type, id }]);
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
