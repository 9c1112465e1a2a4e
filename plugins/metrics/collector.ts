import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '#kernel';
import type { MetricDescription, MetricSample, MetricSamples, MetricSource } from './contract.ts';
import { Counter } from './library.ts';
import { findSamplesProblem } from './source-problems.ts';

/** Milliseconds that one source has while metrics are read, and by schedule. */
const DEADLINES = { read: 2000, schedule: 10_000 } as const;
/** Characters of the longest label value. */
const MAX_LABEL_LENGTH = 200;

/** One metric with its samples, its name as it is exported. */
export interface CollectedMetric extends MetricDescription {
  readonly name: string;
  readonly samples: readonly MetricSample[];
}

export interface OwnedMetricSource {
  readonly owner: string;
  readonly value: MetricSource;
}

interface CollectorOptions {
  readonly sources: () => readonly OwnedMetricSource[];
  readonly services: ReadonlySet<string> | undefined;
  readonly prefix: string;
  readonly maxSeries: number;
  readonly log: Log;
}

/** Collects the samples of all sources. Concurrent calls share one collection, so that readers cannot multiply the work. */
export class MetricsCollector {
  readonly #options: CollectorOptions;
  readonly #scheduled = new WeakMap<MetricSource, MetricSamples>();
  readonly #running = new WeakMap<MetricSource, Promise<MetricSamples>>();
  readonly #problems = new Set<string>();
  readonly #failures = new Counter(['service', 'owner']);
  readonly #dropped = new Counter(['metric']);
  #collecting: Promise<readonly CollectedMetric[]> | undefined;

  constructor(options: CollectorOptions) {
    this.#options = options;
  }

  collect(): Promise<readonly CollectedMetric[]> {
    this.#collecting ??= this.#collect().finally(() => {
      this.#collecting = undefined;
    });
    return this.#collecting;
  }

  /** Collects the sources that are collected by schedule. */
  async refresh(): Promise<void> {
    const due = this.#sources().filter(({ value }) => value.collected === 'schedule');
    await Promise.all(
      due.map(async (one) => void this.#scheduled.set(one.value, await this.#samplesOf(one, DEADLINES.schedule))),
    );
  }

  /** Failed collections, and series that were left out. */
  readonly source: MetricSource = {
    service: 'metrics',
    metrics: {
      metrics_source_failures_total: { kind: 'counter', help: 'Collections of metrics that failed or took too long.' },
      metrics_dropped_series_total: {
        kind: 'counter',
        help: 'Series that were left out, since their metric has too many.',
      },
    },
    collect: () => ({
      metrics_source_failures_total: this.#failures.samples(),
      metrics_dropped_series_total: this.#dropped.samples(),
    }),
  };

  /** Names in METRICS_SERVICES that no source has. */
  unknownServices(): readonly string[] {
    const known = new Set(this.#options.sources().map(({ value }) => value.service));
    return [...(this.#options.services ?? [])].filter((name) => !known.has(name));
  }

  #sources(): readonly OwnedMetricSource[] {
    const { sources, services } = this.#options;
    return sources().filter(({ value }) => services?.has(value.service) ?? true);
  }

  async #collect(): Promise<readonly CollectedMetric[]> {
    const sources = this.#sources();
    const all = await Promise.all(sources.map((one) => this.#currentSamplesOf(one)));
    const metrics = new Map<string, CollectedMetric>();
    for (const [at, { owner, value }] of sources.entries()) {
      for (const [name, description] of Object.entries(value.metrics)) {
        if (metrics.has(name)) this.#warnOnce(owner, `the metric ${name} exists already, and is left out`);
        else metrics.set(name, this.#toMetric(name, description, all[at]?.[name] ?? []));
      }
    }
    return [...metrics.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** A source that is collected by schedule is collected here once, until its schedule begins. */
  async #currentSamplesOf(one: OwnedMetricSource): Promise<MetricSamples> {
    if (one.value.collected !== 'schedule') return this.#samplesOf(one);
    const samples = this.#scheduled.get(one.value) ?? (await this.#samplesOf(one));
    this.#scheduled.set(one.value, samples);
    return samples;
  }

  async #samplesOf({ owner, value }: OwnedMetricSource, deadline: number = DEADLINES.read): Promise<MetricSamples> {
    const late = pause(deadline, undefined, { ref: false }).then(() => {
      throw new Error(`it took longer than ${deadline} ms`);
    });
    late.catch(() => {});
    // A collection that has not ended is not begun again.
    const running = this.#running.get(value) ?? Promise.resolve().then(() => value.collect());
    this.#running.set(value, running);
    const end = () => void this.#running.delete(value);
    running.then(end, end);
    try {
      const samples = await Promise.race([running, late]);
      const problem = findSamplesProblem(value, samples);
      if (problem !== undefined) throw new TypeError(problem);
      return samples;
    } catch (error) {
      this.#failures.add([value.service, owner]);
      this.#options.log.warn({ err: error, source: owner, service: value.service }, 'metrics were not collected');
      return {};
    }
  }

  #toMetric(name: string, { kind, help }: MetricDescription, samples: readonly MetricSample[]): CollectedMetric {
    const { maxSeries, prefix } = this.#options;
    const valid = samples.filter(({ value }) => kind === 'histogram' || Number.isFinite(value));
    if (valid.length > maxSeries) this.#dropped.add([name], valid.length - maxSeries);
    return { name: prefix + name, kind, help, samples: valid.slice(0, maxSeries).map(toBoundedLabels) };
  }

  #warnOnce(source: string, text: string): void {
    if (this.#problems.has(text)) return;
    this.#problems.add(text);
    this.#options.log.warn({ source }, text);
  }
}

const toBoundedLabels = ({ labels, value }: MetricSample): MetricSample => ({
  labels: Object.fromEntries(
    Object.entries(labels ?? {}).map(([name, text]) => [name, String(text).slice(0, MAX_LABEL_LENGTH).toWellFormed()]),
  ),
  value,
});
