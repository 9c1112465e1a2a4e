import type { MetricSource } from '../metrics/contract.ts';
import type { AnswerCounts } from './response-cache.ts';

/** How often answers came from the cache. */
export const createCacheMetricSource = (counts: () => AnswerCounts | undefined): MetricSource => ({
  service: 'cache',
  metrics: {
    cache_answers_total: {
      kind: 'counter',
      help: 'Answers to reads: hit came from the cache, miss may be stored, uncacheable may not.',
    },
  },
  collect: () => ({
    cache_answers_total: Object.entries(counts() ?? {}).map(([result, value]) => ({ labels: { result }, value })),
  }),
});
