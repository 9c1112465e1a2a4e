import type { ReasonCode, ServerExtensionType } from '../extensions/contract.ts';
import { LoadFailure } from '../extensions/library.ts';
import type { ConfinedContribution } from './gate/contributions.ts';
import type { PackagePastLoadGate } from './gate/gate.ts';

const CODES = {
  endpoint: 'AMBIGUOUS_ENDPOINT',
  hook: 'AMBIGUOUS_HOOK',
  operation: 'AMBIGUOUS_OPERATION',
} as const satisfies Record<ServerExtensionType, ReasonCode>;

/** The id of a contribution among those of all packages: the package's id, for a bundle with the entry's key. */
export const buildContributionId = (
  { extension }: Pick<PackagePastLoadGate, 'extension'>,
  { key }: Pick<ConfinedContribution, 'key'>,
): string => (key === '' ? extension.id : `${extension.id} ${key}`);

/**
 * Contributions of one type with the same name, by contribution id. None of them is loaded, so that none replaces
 * another.
 */
export function findDuplicateContributions(all: readonly PackagePastLoadGate[]): ReadonlyMap<string, LoadFailure> {
  const byName = new Map<
    string,
    { readonly contributionId: string; readonly type: ServerExtensionType; readonly id: string }[]
  >();
  for (const gated of all) {
    for (const contribution of gated.contributions) {
      const { type, id } = contribution;
      const name = `${type}:${type === 'endpoint' ? id.toLowerCase() : id}`;
      byName.set(name, [
        ...(byName.get(name) ?? []),
        { contributionId: buildContributionId(gated, contribution), type, id },
      ]);
    }
  }
  const ambiguous = [...byName.values()].filter((same) => same.length > 1).flat();
  return new Map(
    ambiguous.map(({ contributionId, type, id }) => [
      contributionId,
      new LoadFailure(CODES[type], `More than one confined ${type} is called "${id.slice(0, 80)}".`),
    ]),
  );
}
