import type { Log } from '#kernel';
import type { PressureLimits } from './settings.ts';

/** The load of the process since the sample before. */
export interface LoadSample {
  readonly utilization: number;
  readonly delay: number;
  readonly rss: number;
  readonly heapUsed: number;
}

/** A running measurement of the load. */
export interface LoadMeasurement {
  /** The load since the last call. */
  sample(): LoadSample;
  stop(): void;
}

export interface PressureMonitorDeps {
  readonly limits: PressureLimits;
  /** Milliseconds between two samples. */
  readonly interval: number;
  readonly measurement: LoadMeasurement;
  readonly log: Pick<Log, 'warn'>;
}

export interface PressureMonitor {
  /** What is over its limit, for the log; undefined while nothing is. */
  readonly pressure: string | undefined;
  stop(): void;
}

/** Compares the load with the limits at intervals, and logs when the process becomes overloaded and when that is over. */
export function startPressureMonitor({ limits, interval, measurement, log }: PressureMonitorDeps): PressureMonitor {
  let pressure: string | undefined;
  let since = 0;

  function update(): void {
    const sample = measurement.sample();
    const next = findExceeded(sample, limits);
    if (next !== undefined && pressure === undefined) {
      since = performance.now();
      log.warn({ ...sample }, `the process is overloaded (${next}): requests are refused`);
    }
    if (next === undefined && pressure !== undefined) {
      const seconds = Math.round((performance.now() - since) / 100) / 10;
      log.warn({ seconds }, 'the process is not overloaded any more');
    }
    pressure = next;
  }

  const timer = setInterval(update, interval).unref();
  return {
    get pressure() {
      return pressure;
    },
    stop() {
      clearInterval(timer);
      measurement.stop();
    },
  };
}

const NAMES: Readonly<Record<keyof LoadSample, string>> = {
  utilization: 'utilization of the event loop',
  delay: 'delay of the event loop',
  rss: 'resident memory',
  heapUsed: 'heap',
};

/** The first load that is over its limit. */
function findExceeded(sample: LoadSample, limits: PressureLimits): string | undefined {
  const keys = Object.keys(NAMES) as (keyof LoadSample)[];
  const exceeded = keys.find((key) => sample[key] > limits[key]);
  return exceeded && NAMES[exceeded];
}
