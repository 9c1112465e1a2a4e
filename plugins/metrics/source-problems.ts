import type { MetricSource } from './contract.ts';

const NAME = /^[a-z][a-z0-9_]*$/;
const KINDS: readonly string[] = ['counter', 'gauge', 'histogram'];
/** The exporter for Prometheus makes one `_` of several, by which two labels of a sample could have one name. */
const LABEL_NAME = /^(?!.*__)[a-z_][a-z0-9_]*$/i;

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null;

/** Why a source cannot be used; undefined where it can. Packages may not be type-checked. */
export function findSourceProblem({ metrics, collect }: MetricSource): string | undefined {
  if (typeof collect !== 'function') return 'it has no function collect';
  if (!isObject(metrics)) return 'it has no metrics';
  for (const [name, description] of Object.entries(metrics)) {
    const { kind, help } = description ?? {};
    if (!NAME.test(name)) return `${name} is no name of a metric: lower case, digits and _`;
    if (!KINDS.includes(kind)) return `${name} has no kind`;
    if (typeof help !== 'string' || help === '') return `${name} has no help`;
    if ((kind === 'counter') !== name.endsWith('_total'))
      return `${name}: names of counters end with _total, no others`;
  }
  return undefined;
}

/** Why what `collect` of a source has returned cannot be exported; undefined where it can. */
export function findSamplesProblem({ metrics }: Pick<MetricSource, 'metrics'>, samples: unknown): string | undefined {
  if (!isObject(samples)) return 'it returns no object';
  for (const [name, { kind }] of Object.entries(metrics)) {
    const list = samples[name];
    if (list === undefined) continue;
    if (!Array.isArray(list)) return `${name} is no list of samples`;
    for (const sample of list) {
      const problem = findSampleProblem(sample, kind === 'histogram');
      if (problem !== undefined) return `${name} has ${problem}`;
    }
  }
  return undefined;
}

/** A value of a counter or gauge that is no finite number is no problem: the collector leaves out its sample. */
function findSampleProblem(sample: unknown, isOfHistogram: boolean): string | undefined {
  if (!isObject(sample)) return 'a sample that is no object';
  const { value } = sample;
  const labels = sample.labels ?? {};
  if (!isObject(labels)) return 'labels that are no object';
  for (const [label, text] of Object.entries(labels)) {
    if (!LABEL_NAME.test(label))
      return `a label ${JSON.stringify(label)}: letters, digits and _, no digit first, no __`;
    if (isOfHistogram && label === 'le') return 'a label "le", which is that of its ranges';
    if (isObject(text) || typeof text === 'function') return `a value of the label ${label} that is no text`;
  }
  return isOfHistogram && !isHistogramValue(value) ? 'a value that is no histogram' : undefined;
}

function isHistogramValue(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { boundaries, counts, sum, count } = value;
  return (
    Array.isArray(boundaries) &&
    Array.isArray(counts) &&
    counts.length === boundaries.length + 1 &&
    [...boundaries, ...counts, sum, count].every(Number.isFinite) &&
    boundaries.every((bound, at) => at === 0 || boundaries[at - 1] < bound)
  );
}
