import { OWN_CAPABILITIES } from '../capabilities/own.ts';
import type { PluginPackage } from '../manifest/validate.ts';
import type { Discovered } from './discover.ts';
import { BootFailure } from './failure.ts';
import { KERNEL_FACETS } from './kernel-facets.ts';
import { definedBy } from './order.ts';

/**
 * A name means one thing in a composition. Of two packages that claim it, the later one is at fault: the product's own
 * come first, so nobody's package can put itself in the place of one of them.
 */
export function withoutDoubles(all: readonly Discovered[], refused: BootFailure[]): readonly Discovered[] {
  const taken = new Map<string, string>([
    ...KERNEL_FACETS.map(({ id }) => [`facet ${id}`, 'the kernel'] as const),
    ...OWN_CAPABILITIES.map((name) => [`capability ${name}`, 'the kernel'] as const),
  ]);
  return all.filter((one) => {
    const claims = claimsOf(one);
    const double = claims.find((claim) => taken.has(claim));
    if (double === undefined) {
      for (const claim of claims) taken.set(claim, one.name);
      return true;
    }
    const failure = new BootFailure(one.name, 'validate', `the ${double} already belongs to ${taken.get(double)}`, {
      remedy: 'remove or rename one of the two',
    });
    if (one.core) throw failure;
    refused.push(failure);
    return false;
  });
}

const claimsOf = (one: PluginPackage): readonly string[] => [
  `name ${one.name}`,
  ...Object.keys(one.manifest.provides ?? {}).map((id) => `service ${id}`),
  ...(one.manifest.facets ?? []).map((id) => `facet ${id}`),
  ...definedBy(one).map((name) => `capability ${name}`),
];
