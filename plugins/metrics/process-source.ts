import { readdir } from 'node:fs/promises';
import { monitorEventLoopDelay, type PerformanceEntry, PerformanceObserver, performance } from 'node:perf_hooks';
import { VERSION } from '#kernel';
import type { MetricSource } from './contract.ts';
import { Counter } from './library.ts';

/** Milliseconds between two measurements of the delay of the event loop. */
const RESOLUTION = 20;
const QUANTILES = [0.5, 0.9, 0.99] as const;
const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;
const MILLISECONDS = 1e3;
/** Kinds of garbage collections by their numbers in `perf_hooks`. */
const GC_KINDS: Readonly<Record<number, string>> = { 1: 'minor', 4: 'major', 8: 'incremental', 16: 'weak-callbacks' };

/** The member `detail` of entries of garbage collections is missing in the types of Node. */
type GcEntry = PerformanceEntry & { readonly detail?: { readonly kind?: number } };

/** The metrics of this process, and the measurements that they need from `start` to `stop`. */
export interface ProcessMeasurement {
  readonly source: MetricSource;
  start(): void;
  stop(): void;
}

export function createProcessMeasurement(): ProcessMeasurement {
  let delays: ReturnType<typeof monitorEventLoopDelay> | undefined;
  const collections = new Counter(['kind']);
  const observer = new PerformanceObserver((list) => {
    for (const { detail, duration } of list.getEntries() as readonly GcEntry[])
      collections.add([GC_KINDS[detail?.kind ?? 0] ?? 'other'], duration / MILLISECONDS);
  });
  return {
    start() {
      delays = monitorEventLoopDelay({ resolution: RESOLUTION });
      delays.enable();
      observer.observe({ entryTypes: ['gc'] });
    },
    stop() {
      delays?.disable();
      observer.disconnect();
    },
    source: {
      service: 'process',
      metrics: {
        build_info: { kind: 'gauge', help: 'Always 1, with the versions of the service and of Node as labels.' },
        process_start_time_seconds: { kind: 'gauge', help: 'Start of the process, in seconds since 1970.' },
        process_cpu_seconds_total: {
          kind: 'counter',
          help: 'Processor time of the process, without its child processes.',
        },
        process_resident_memory_bytes: { kind: 'gauge', help: 'Resident memory of the process.' },
        process_open_fds: { kind: 'gauge', help: 'Open files and connections of the process, on Linux.' },
        nodejs_heap_used_bytes: { kind: 'gauge', help: 'Memory of objects.' },
        nodejs_heap_total_bytes: { kind: 'gauge', help: 'Memory reserved for objects.' },
        nodejs_external_memory_bytes: { kind: 'gauge', help: 'Memory outside of the heap that objects hold.' },
        nodejs_eventloop_active_seconds_total: { kind: 'counter', help: 'Time in which the event loop worked.' },
        nodejs_eventloop_delay_seconds: {
          kind: 'gauge',
          help: 'Delay of timers since the last read of metrics, by percentile.',
        },
        nodejs_gc_seconds_total: { kind: 'counter', help: 'Time of garbage collections.' },
      },
      async collect() {
        const { user, system } = process.cpuUsage();
        const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
        const delaySamples = QUANTILES.map((quantile) => ({
          labels: { percentile: String(quantile * 100) },
          value: Math.max(0, (delays?.percentile(quantile * 100) ?? 0) / NANOSECONDS - RESOLUTION / MILLISECONDS),
        }));
        delays?.reset();
        return {
          build_info: [{ labels: { version: VERSION, node: process.version }, value: 1 }],
          process_start_time_seconds: [{ value: performance.timeOrigin / MILLISECONDS }],
          process_cpu_seconds_total: [
            { labels: { mode: 'user' }, value: user / MICROSECONDS },
            { labels: { mode: 'system' }, value: system / MICROSECONDS },
          ],
          process_resident_memory_bytes: [{ value: rss }],
          process_open_fds: await countOpenFiles(),
          nodejs_heap_used_bytes: [{ value: heapUsed }],
          nodejs_heap_total_bytes: [{ value: heapTotal }],
          nodejs_external_memory_bytes: [{ value: external }],
          nodejs_eventloop_active_seconds_total: [{ value: performance.eventLoopUtilization().active / MILLISECONDS }],
          nodejs_eventloop_delay_seconds: delaySamples,
          nodejs_gc_seconds_total: collections.samples(),
        };
      },
    },
  };
}

/** No sample where there is no `/proc`. */
const countOpenFiles = () =>
  readdir('/proc/self/fd').then(
    ({ length }) => [{ value: length }],
    () => [],
  );
