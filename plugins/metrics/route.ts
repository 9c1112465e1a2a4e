import type { Route } from '../http/contract.ts';
import { TEXT_SCHEMA } from '../http/library.ts';
import { createMetricsAccessCheck } from './access.ts';
import type { MetricsCollector } from './collector.ts';

/** The content type of the text format of Prometheus. */
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** `GET /metrics`, for Prometheus. */
export function createMetricsRoute(tokens: readonly string[], collector: Pick<MetricsCollector, 'collect'>): Route {
  const assertAllowed = createMetricsAccessCheck(tokens);
  return {
    method: 'GET',
    path: '/metrics',
    dependsOnHeaders: true,
    description: {
      summary: 'Metrics of this process in the text format of Prometheus',
      access: 'admin',
      answers: { 200: { 'text/plain': TEXT_SCHEMA } },
    },
    async handle(ctx) {
      assertAllowed(ctx);
      // Loads the exporter with the first request.
      const { renderPrometheusText } = await import('./prometheus-text.ts');
      const text = renderPrometheusText(await collector.collect());
      ctx.set('Cache-Control', 'no-store');
      ctx.type = CONTENT_TYPE;
      ctx.body = text;
    },
  };
}
