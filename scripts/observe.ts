/**
 * `npm run observe`: starts a service with metrics and traces, a Prometheus that reads its metrics, and a receiver of OTLP; sends requests
 * for some seconds and prints what both have received: each query of the Grafana dashboard, and one trace.
 */
import { readFile } from 'node:fs/promises';
import { freshDatabase } from '../test/support/database.ts';
import { startDatabaseServer } from '../test/support/database-server.ts';
import { type ReceivedSpan, startOtlpReceiver } from '../test/support/otlp-receiver.ts';
import { queriesOfDashboard, startPrometheus } from '../test/support/prometheus.ts';
import { spawnService } from '../test/support/service.ts';
import { until } from '../test/support/until.ts';
import { loadBenchData } from './bench/data.ts';

const DASHBOARD = new URL('../docs/dashboards/grafana.json', import.meta.url);
const TOKEN = 'a-token-for-prometheus';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
/** Milliseconds for which requests are sent. */
const DURATION = 8000;
/** Samples of one query that are printed. */
const MAX_SAMPLES = 4;

const server = await startDatabaseServer();
process.env.TEST_DATABASE_URL = server.url;
const database = await freshDatabase('observe');
const receiver = await startOtlpReceiver();
try {
  await loadBenchData(database, 0.01);
  const service = await spawnService({
    database,
    env: {
      METRICS_ENABLED: 'true',
      METRICS_TOKENS: TOKEN,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: '200',
    },
  });
  const prometheus = await startPrometheus({ url: service.url, token: TOKEN });
  try {
    const { token } = service.admin;
    const paths = ['/items/article/5', '/items/article?limit=25', '/users/me', '/items/nothing', '/no/such/path'];
    const end = performance.now() + DURATION;
    let sent = 0;
    for (; performance.now() < end; sent++)
      await service.request('GET', paths[sent % paths.length] as string, { token });
    console.log(`${sent} requests sent\n`);

    const path = '/items/article?fields=id,title,author_id.name&limit=2';
    await service.request('GET', path, { token, headers: { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` } });
    const ofTrace = () => receiver.spans.filter(({ traceId }) => traceId === TRACE);
    await until(async () => ofTrace().some(({ kind }) => kind === 2));
    console.log(`The trace ${TRACE} of GET ${path}, with its parent 00f067aa0ba902b7 from traceparent:`);
    printSpans(ofTrace(), '00f067aa0ba902b7', 1);
    console.log(`${receiver.spans.length} spans received by OTLP in ${receiver.requests.length} requests\n`);

    console.log('What Prometheus answers to the queries of the dashboard:');
    for (const [title, query] of queriesOfDashboard(await readFile(DASHBOARD, 'utf8'))) {
      const samples = await prometheus.query(query);
      console.log(`${title}: ${samples.length === 0 ? 'nothing happened' : ''}`);
      for (const { metric, value } of samples.slice(0, MAX_SAMPLES)) {
        const { __name__: _name, instance: _instance, job: _job, ...labels } = metric;
        console.log(`    ${Object.values(labels).join(' ') || 'all'}: ${Number(value[1]).toPrecision(4)}`);
      }
    }
  } finally {
    await prometheus.stop();
    await service.stop();
  }
} finally {
  await receiver.stop();
  await database.drop();
  await server.stop();
}

function printSpans(spans: readonly ReceivedSpan[], parent: string, depth: number): void {
  for (const span of spans.filter(({ parentSpanId }) => parentSpanId === parent)) {
    const text = span.attributes['db.query.text'];
    const owner = span.attributes['tenon.owner'] ?? '';
    console.log(`${'  '.repeat(depth)}${span.name}  ${owner}${text ? `  ${String(text).slice(0, 60)}…` : ''}`);
    printSpans(spans, span.spanId, depth + 1);
  }
}
