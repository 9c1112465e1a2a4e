import type { MetricSource } from './contract.ts';

const NAME = /^[a-z][a-z0-9_]*$/;
const KINDS: readonly string[] = ['counter', 'gauge', 'histogram'];

/** Why a source cannot be used; undefined where it can. Packages may not be type-checked. */
export function findSourceProblem({ metrics, collect }: MetricSource): string | undefined {
  if (typeof collect !== 'function') return 'it has no function collect';
  for (const [name, { kind, help }] of Object.entries(metrics ?? {})) {
    if (!NAME.test(name)) return `${name} is no name of a metric: lower case, digits and _`;
    if (!KINDS.includes(kind)) return `${name} has no kind`;
    if (typeof help !== 'string' || help === '') return `${name} has no help`;
    if ((kind === 'counter') !== name.endsWith('_total'))
      return `${name}: names of counters end with _total, no others`;
  }
  return undefined;
}
