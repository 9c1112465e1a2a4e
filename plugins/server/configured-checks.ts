import type { HealthCheck } from './contract.ts';

/** Names of HEALTHCHECK_SERVICES by which no check is found. */
export const findUnknownNames = (names: readonly string[], checks: readonly HealthCheck[]): readonly string[] =>
  names.filter((name) => !checks.some((check) => isNamedBy(check, name)));

const isNamedBy = ({ name }: HealthCheck, expected: string): boolean =>
  name === expected || name.startsWith(`${expected}:`);

/**
 * Creates the reader of the checks that HEALTHCHECK_SERVICES names: by the whole name, or by the part before a colon, so that `storage`
 * stands for all locations. Without names these are all checks. The same list gives the same result, by which concurrent requests share one run.
 */
export function createConfiguredCheckReader(
  names: readonly string[],
  read: () => readonly HealthCheck[],
): () => readonly HealthCheck[] {
  if (names.length === 0) return read;
  const isNamed = (check: HealthCheck) => names.some((one) => isNamedBy(check, one));
  let known: { readonly all: readonly HealthCheck[]; readonly named: readonly HealthCheck[] } | undefined;
  return () => {
    const all = read();
    if (known?.all !== all) known = { all, named: all.filter(isNamed) };
    return known.named;
  };
}
