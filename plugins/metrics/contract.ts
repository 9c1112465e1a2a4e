import { authorities, facet } from '#kernel';
import { findSourceProblem } from './source-problems.ts';

/** What a metric is. Names end with their unit, such as `_seconds` or `_bytes`, and those of counters with `_total`. */
export interface MetricDescription {
  /** `counter`: grows from the start of the process on. `gauge`: a value of now. `histogram`: durations or sizes by ranges. */
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** One sentence. */
  readonly help: string;
}

/** The observations of a histogram since the start of the process. */
export interface HistogramValue {
  /** Upper bounds of the ranges, ascending; a last range has no upper bound. */
  readonly boundaries: readonly number[];
  /** Observations in each range: one more than there are boundaries. */
  readonly counts: readonly number[];
  readonly sum: number;
  readonly count: number;
}

/** One value of a metric. Label values must not come from clients: each new one is kept for as long as the process lives. */
export interface MetricSample {
  /** Names are made of letters, digits and `_`, without `__` and without a digit at the beginning; those of histograms are not `le`. */
  readonly labels?: Readonly<Record<string, string>>;
  /** A sample whose number is not finite is left out. */
  readonly value: number | HistogramValue;
}

/** Samples by the name of their metric. */
export type MetricSamples = Readonly<Record<string, readonly MetricSample[]>>;

/** Metrics of one part of the service. */
export interface MetricSource {
  /** Name of the part, by which METRICS_SERVICES chooses: `database`, for example. */
  readonly service: string;
  /** The metrics by name, without METRICS_NAME_PREFIX: lower case, digits and `_`. */
  readonly metrics: Readonly<Record<string, MetricDescription>>;
  /**
   * `scrape`, the default: `collect` runs each time that metrics are read, and must be cheap. `schedule`: it runs by METRICS_SCHEDULE,
   * and its last samples are read.
   */
  readonly collected?: 'scrape' | 'schedule';
  /** The samples of now. It has two seconds, by schedule ten; a failure leaves out these metrics only, and a sample of the wrong form is one. */
  collect(): MetricSamples | Promise<MetricSamples>;
}

/**
 * Metrics of plugins, for `GET /metrics` and exports by OpenTelemetry. The manifest section lists the services of the sources. Plugins
 * of lower floors name this facet by its id, with `optional`. While metrics are off, nothing is collected.
 */
export const metricSources = facet<MetricSource, readonly { readonly owner: string; readonly value: MetricSource }[]>(
  'metrics.sources',
  {
    combine: (all) => all,
    manifest: {
      type: 'object',
      additionalProperties: false,
      required: ['services'],
      properties: { services: { type: 'array', minItems: 1, items: { type: 'string', pattern: '^[a-z][a-z0-9-]*$' } } },
    },
    validate: (source, declared) =>
      declared.services.includes(source.service)
        ? (findSourceProblem(source) ?? true)
        : `the service ${source.service} is not declared`,
    describe: (declared) => authorities('contributes to', ['metrics'], declared.services.join(', ')),
  },
);
