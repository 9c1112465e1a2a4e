import type { HistogramValue, MetricSample } from './contract.ts';

/** Stands for all label values over the limit of an instrument. */
export const OTHER = 'other';

/** Series of an instrument by their label values: a new one beyond the limit is counted under `other`. */
class SeriesTable<T> {
  readonly #labels: readonly string[];
  readonly #limit: number;
  readonly #create: () => T;
  readonly #byKey = new Map<string, { readonly values: readonly string[]; readonly series: T }>();

  constructor(labels: readonly string[], limit: number, create: () => T) {
    this.#labels = labels;
    this.#limit = limit;
    this.#create = create;
  }

  of(values: readonly string[]): T {
    const key = values.join('\n');
    const found = this.#byKey.get(key);
    if (found) return found.series;
    if (this.#byKey.size >= this.#limit && values.some((value) => value !== OTHER))
      return this.of(values.map(() => OTHER));
    const series = this.#create();
    this.#byKey.set(key, { values, series });
    return series;
  }

  samples(read: (series: T) => MetricSample['value']): readonly MetricSample[] {
    return [...this.#byKey.values()].map(({ values, series }) => ({
      labels: Object.fromEntries(this.#labels.map((label, at) => [label, values[at] as string])),
      value: read(series),
    }));
  }
}

/** A counter with labels. At most `limit` series, and one for all further ones. */
export class Counter {
  readonly #table: SeriesTable<{ value: number }>;

  constructor(labels: readonly string[], limit = 100) {
    this.#table = new SeriesTable(labels, limit, () => ({ value: 0 }));
  }

  /** `values` are those of the labels, in their order. */
  add(values: readonly string[], amount = 1): void {
    this.#table.of(values).value += amount;
  }

  samples(): readonly MetricSample[] {
    return this.#table.samples(({ value }) => value);
  }
}

interface HistogramSeries {
  readonly counts: number[];
  sum: number;
  count: number;
}

/** A histogram with labels. At most `limit` series, and one for all further ones. */
export class Histogram {
  readonly #boundaries: readonly number[];
  readonly #table: SeriesTable<HistogramSeries>;

  constructor(labels: readonly string[], boundaries: readonly number[], limit = 100) {
    this.#boundaries = boundaries;
    this.#table = new SeriesTable(labels, limit, () => ({
      counts: new Array<number>(boundaries.length + 1).fill(0),
      sum: 0,
      count: 0,
    }));
  }

  /** `values` are those of the labels, in their order. */
  observe(values: readonly string[], value: number): void {
    const series = this.#table.of(values);
    const boundaries = this.#boundaries;
    let range = 0;
    while (range < boundaries.length && value > (boundaries[range] as number)) range++;
    (series.counts[range] as number)++;
    series.sum += value;
    series.count++;
  }

  samples(): readonly MetricSample[] {
    return this.#table.samples(
      ({ counts, sum, count }): HistogramValue => ({ boundaries: this.#boundaries, counts: [...counts], sum, count }),
    );
  }
}
