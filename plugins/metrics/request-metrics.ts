import type { RequestObservation, RequestObserver } from '../http/contract.ts';
import type { MetricSource } from './contract.ts';
import { Histogram, OTHER } from './library.ts';

/** Seconds. */
const BOUNDARIES = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Methods with series of their own: Node accepts thirty more, which no route has. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'SEARCH', 'OPTIONS']);

export interface RequestMetrics {
  readonly observer: RequestObserver;
  readonly source: MetricSource;
}

/** Durations of requests by the template of their route, never by their path, which clients choose. */
export function createRequestMetrics(maxSeries: number): RequestMetrics {
  const durations = new Histogram(['method', 'route', 'owner', 'status'], BOUNDARIES, maxSeries);
  let running = 0;
  const observation: RequestObservation = {
    end({ method, route, status, duration }) {
      running--;
      const labels = [
        METHODS.has(method) ? method : OTHER,
        route?.path ?? 'none',
        route?.owner ?? 'none',
        String(status),
      ];
      durations.observe(labels, duration / 1000);
    },
  };
  return {
    observer: {
      begin() {
        running++;
        return observation;
      },
    },
    source: {
      service: 'http',
      metrics: {
        http_request_duration_seconds: {
          kind: 'histogram',
          help: 'Requests by method, route, plugin or package that answers, and status; the route none is that of unknown paths.',
        },
        http_requests_in_progress: { kind: 'gauge', help: 'Requests that are not answered completely.' },
      },
      collect: () => ({
        http_request_duration_seconds: durations.samples(),
        http_requests_in_progress: [{ value: running }],
      }),
    },
  };
}
