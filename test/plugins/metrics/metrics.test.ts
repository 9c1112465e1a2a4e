import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { metricSources } from '../../../plugins/metrics/contract.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../../support/otlp-receiver.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import { type TestPlugin, writeTestPluginPackages } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';

const TOKEN = 'a-token-for-prometheus';
/** The cache and limiters, with limits that no test reaches: each has metrics where it is on. */
const LIMITS = {
  CACHE_ENABLED: 'true',
  PRESSURE_LIMITER_ENABLED: 'true',
  PRESSURE_LIMITER_MAX_EVENT_LOOP_UTILIZATION: '0',
  PRESSURE_LIMITER_MAX_EVENT_LOOP_DELAY: '1h',
  RATE_LIMITER_ENABLED: 'true',
  RATE_LIMITER_POINTS: '100000',
};
const authorization = `Metrics ${TOKEN}`;

/** The lines of samples whose metric is `name`. */
const linesOf = (text: string, name: string): readonly string[] =>
  text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));

/** Names and types by the comments of the format. */
const typesOf = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]));

let extra = 0;
const author: TestPlugin = {
  name: 'author',
  manifest: { contributes: { 'metrics.sources': { services: ['weather'] } } },
  register(host) {
    host.contribute(metricSources, {
      service: 'weather',
      metrics: {
        weather_degrees: { kind: 'gauge', help: 'Degrees by city.' },
        build_info: { kind: 'gauge', help: 'Already taken.' },
      },
      collect: () => ({
        weather_degrees: [
          { labels: { city: 'Bern "\\\n' }, value: 12.5 },
          ...Array.from({ length: extra }, (_one, at) => ({ labels: { city: `city ${at}` }, value: at })),
        ],
        build_info: [{ value: 2 }],
      }),
    });
    host.contribute(metricSources, {
      service: 'weather',
      metrics: { weather_failures_total: { kind: 'counter', help: 'Fails.' } },
      collect() {
        throw new Error('no weather');
      },
    });
  },
};

describe('GET /metrics', () => {
  let service: InProcessService;
  let removePackages: () => Promise<void>;
  const read = async () => String((await service.request('GET', '/metrics', { headers: { authorization } })).body);

  before(async () => {
    const { composition, remove } = await writeTestPluginPackages([author]);
    removePackages = remove;
    service = await startService({
      env: {
        METRICS_ENABLED: 'true',
        METRICS_TOKENS: `other,${TOKEN}`,
        METRICS_MAX_SERIES: '50',
        WEBSOCKETS_ENABLED: 'true',
        ...LIMITS,
        LOG_LEVEL: 'warn',
      },
      plugins: composition.plugins,
    });
  });
  after(async () => {
    await service?.stop();
    await removePackages?.();
  });

  it('answers admins and each token of METRICS_TOKENS, and refuses all others', async () => {
    const status = async (options: object) => (await service.request('GET', '/metrics', options)).status;
    expect(await status({ token: service.admin.token })).to.equal(200);
    for (const value of [authorization, 'metrics other'])
      expect(await status({ headers: { authorization: value } })).to.equal(200);
    for (const value of [
      'Metrics',
      'Metrics x',
      `Metrics ${TOKEN}x`,
      `Metrics ${TOKEN},other`,
      TOKEN,
      `Basic ${TOKEN}`,
    ])
      expect(await status({ headers: { authorization: value } }), value).to.equal(403);
    expect(await status({})).to.equal(403);
    expect(await status({ token: TOKEN })).to.equal(401);
    const role = (await service.request('POST', '/roles', { token: service.admin.token, body: { name: 'r' } })).body
      .data.id;
    const user = { email: 'u@example.com', role, token: 'token-of-a-user' };
    await service.request('POST', '/users', { token: service.admin.token, body: user });
    expect(await status({ token: user.token })).to.equal(403);
  });

  it('is text of the format 0.0.4 that nothing keeps', async () => {
    const { headers } = await service.request('GET', '/metrics', { headers: { authorization } });
    expect(headers.get('content-type')).to.equal('text/plain; version=0.0.4; charset=utf-8');
    expect(headers.get('cache-control')).to.equal('no-store');
  });

  it('has the documented names with their types', async () => {
    expect(typesOf(await read())).to.deep.equal({
      tenon_build_info: 'gauge',
      tenon_cache_answers_total: 'counter',
      tenon_database_connections_in_use: 'gauge',
      tenon_database_connections_max: 'gauge',
      tenon_database_longest_wait_seconds: 'gauge',
      tenon_database_refusals_total: 'counter',
      tenon_database_statement_duration_seconds: 'histogram',
      tenon_database_statements_waiting: 'gauge',
      tenon_extensions_denials_total: 'counter',
      tenon_extensions_host_calls_total: 'counter',
      tenon_extensions_packages: 'gauge',
      tenon_extensions_system_uses_total: 'counter',
      tenon_health_check_ok: 'gauge',
      tenon_health_check_value: 'gauge',
      tenon_http_request_duration_seconds: 'histogram',
      tenon_http_requests_in_progress: 'gauge',
      tenon_metrics_dropped_series_total: 'counter',
      tenon_metrics_source_failures_total: 'counter',
      tenon_nodejs_eventloop_active_seconds_total: 'counter',
      tenon_nodejs_eventloop_delay_seconds: 'gauge',
      tenon_nodejs_external_memory_bytes: 'gauge',
      tenon_nodejs_gc_seconds_total: 'counter',
      tenon_nodejs_heap_total_bytes: 'gauge',
      tenon_nodejs_heap_used_bytes: 'gauge',
      tenon_outbound_request_duration_seconds: 'histogram',
      tenon_pressure_limiter_overloaded: 'gauge',
      tenon_pressure_limiter_refusals_total: 'counter',
      tenon_process_cpu_seconds_total: 'counter',
      tenon_process_open_fds: 'gauge',
      tenon_process_resident_memory_bytes: 'gauge',
      tenon_process_start_time_seconds: 'gauge',
      tenon_queue_jobs: 'gauge',
      tenon_queue_oldest_waiting_seconds: 'gauge',
      tenon_queue_run_duration_seconds: 'histogram',
      tenon_rate_limiter_refusals_total: 'counter',
      tenon_sandbox_call_duration_seconds: 'histogram',
      tenon_realtime_changes_total: 'counter',
      tenon_realtime_connections: 'gauge',
      tenon_realtime_deliveries_total: 'counter',
      tenon_realtime_drops_total: 'counter',
      tenon_realtime_groups: 'gauge',
      tenon_realtime_lag_seconds: 'gauge',
      tenon_realtime_reads_total: 'counter',
      tenon_realtime_refusals_total: 'counter',
      tenon_realtime_resyncs_total: 'counter',
      tenon_realtime_subscriptions: 'gauge',
      tenon_sandbox_processes: 'gauge',
      tenon_weather_degrees: 'gauge',
      tenon_weather_failures_total: 'counter',
    });
  });

  it('counts requests by the template of their route, the plugin that answers, and the status', async () => {
    for (let count = 0; count < 3; count++) await service.request('GET', `/roles/${'0'.repeat(count + 1)}`);
    const text = await read();
    const name = 'tenon_http_request_duration_seconds';
    const labels = '{method="GET",route="/roles/:id",owner="@tenon/users",status="403"';
    expect(linesOf(text, `${name}_count`)).to.include(`${name}_count${labels}} 3`);
    expect(linesOf(text, `${name}_bucket`)).to.include(`${name}_bucket${labels},le="+Inf"} 3`);
    expect(linesOf(text, 'tenon_http_requests_in_progress')).to.deep.equal(['tenon_http_requests_in_progress 1']);
  });

  it('has no series for paths and methods that clients invent', async () => {
    await service.request('GET', '/nothing/at/all');
    await service.request('PROPFIND', '/');
    const count = async () => linesOf(await read(), 'tenon_http_request_duration_seconds_count').length;
    const before = await count();
    for (let at = 0; at < 60; at++) {
      await service.request('GET', `/nothing/${at}?x=${at}`);
      await service.request('GET', `/items/none_${at}/${at}`);
      await service.request(['MKCOL', 'PROPPATCH', 'REPORT', 'LOCK'][at % 4] as string, `/${at}`);
      await service.request('GET', `/%E0%A4%A/${at}`);
    }
    // Two of items, and two at most for paths that cannot be decoded.
    expect((await count()) - before).to.be.at.most(4);
    expect(await read()).not.to.match(/nothing|none_|MKCOL|REPORT/);
  });

  it('counts statements by plugin, failed ones apart', async () => {
    await service.request('GET', '/users/me', { token: service.admin.token });
    const name = 'tenon_database_statement_duration_seconds_count';
    expect(linesOf(await read(), name).join('\n')).to.match(/owner="@tenon\/query",outcome="ok"} \d+/);
  });

  it('has the samples of a plugin, escaped, within METRICS_MAX_SERIES', async () => {
    const name = 'tenon_weather_degrees';
    expect(linesOf(await read(), name)).to.deep.equal([`${name}{city="Bern \\"\\\\\\n"} 12.5`]);
    extra = 200;
    const text = await read();
    expect(linesOf(text, name)).to.have.length(50);
    expect(linesOf(await read(), 'tenon_metrics_dropped_series_total')).to.deep.equal([
      'tenon_metrics_dropped_series_total{metric="weather_degrees"} 151',
    ]);
    extra = 0;
  });

  it('counts requests over METRICS_MAX_SERIES with the labels other, and leaves out none of them', async () => {
    const name = 'tenon_http_request_duration_seconds';
    const limited = await startService({
      env: { METRICS_ENABLED: 'true', METRICS_TOKENS: TOKEN, METRICS_MAX_SERIES: '10', LOG_LEVEL: 'warn' },
    });
    try {
      const paths = ['roles', 'users', 'files', 'folders', 'policies', 'permissions', 'fields', 'relations'];
      for (const path of paths)
        for (const method of ['GET', 'PATCH', 'DELETE']) await limited.request(method, `/${path}/0`);
      const { body } = await limited.request('GET', '/metrics', { headers: { authorization } });
      const counts = linesOf(String(body), `${name}_count`);
      expect(counts).to.have.length(10);
      expect(
        counts.filter((line) => line.includes('{method="other",route="other",owner="other",status="other"}')),
      ).to.have.length(1);
      // The read of metrics itself is not ended yet.
      const sum = counts.reduce((all, line) => all + Number(line.split(' ').at(-1)), 0);
      expect(sum).to.equal(paths.length * 3);
      expect(linesOf(String(body), 'tenon_metrics_dropped_series_total')).to.deep.equal([]);
    } finally {
      await limited.stop();
    }
  });

  it('leaves out a source that fails and a metric whose name is taken, and says so in the log', async () => {
    const text = await read();
    expect(text).to.match(/tenon_metrics_source_failures_total\{service="weather",owner="author"\} \d+/);
    expect(linesOf(text, 'tenon_build_info')).to.have.length(1);
    expect(linesOf(text, 'tenon_build_info')[0]).to.match(/ 1$/);
    const texts = service.log.map(({ msg }) => msg);
    expect(texts).to.include.members([
      'metrics were not collected',
      'the metric build_info exists already, and is left out',
    ]);
  });

  it('shows health checks', async () => {
    expect(linesOf(await read(), 'tenon_health_check_ok')).to.include(
      'tenon_health_check_ok{check="pg:responseTime"} 1',
    );
  });
});

describe('metrics with other settings', () => {
  let receiver: OtlpReceiver;
  before(async () => {
    receiver = await startOtlpReceiver();
  });
  after(() => receiver?.stop());

  it('without METRICS_ENABLED there is no route, also for a token', async () => {
    const service = await startService({ env: { METRICS_TOKENS: TOKEN } });
    try {
      expect((await service.request('GET', '/metrics', { headers: { authorization } })).status).to.equal(404);
      expect((await service.request('GET', '/metrics', { token: service.admin.token })).status).to.equal(404);
    } finally {
      await service.stop();
    }
  });

  it('METRICS_SERVICES chooses what is measured, METRICS_NAME_PREFIX begins the names, and OTLP gets the same metrics', async () => {
    const service = await startService({
      env: {
        METRICS_ENABLED: 'true',
        METRICS_SERVICES: 'http,nothing',
        METRICS_NAME_PREFIX: 'a_',
        OTEL_METRICS_EXPORTER: 'otlp',
        OTEL_METRIC_EXPORT_INTERVAL: '100',
        OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${receiver.url}/v1/metrics`,
        OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
        LOG_LEVEL: 'warn',
      },
    });
    try {
      await service.request('GET', '/server/ping');
      const { body } = await service.request('GET', '/metrics', { token: service.admin.token });
      const names = ['a_http_request_duration_seconds', 'a_http_requests_in_progress'];
      expect(Object.keys(typesOf(body))).to.deep.equal(names);
      const isPing = ({ attributes }: { attributes: object }) =>
        'route' in attributes && attributes.route === '/server/ping';
      await until(async () => receiver.metrics.some(({ points }) => points.some(isPing)));
      expect(receiver.metrics.map(({ name, kind }) => [name, kind])).to.deep.equal([
        [names[0], 'histogram'],
        [names[1], 'gauge'],
      ]);
      const ping = receiver.metrics[0]?.points.find(isPing);
      expect(ping).to.deep.include({ value: 1 });
      expect(service.log.map(({ msg }) => msg)).to.include('METRICS_SERVICES names what no plugin measures: nothing');
    } finally {
      await service.stop();
    }
  });

  for (const [title, tracing] of [
    ['without traces', { OTEL_TRACES_EXPORTER: 'none' }],
    ['beside traces', { OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:1' }],
  ] as const)
    it(`failed exports of metrics ${title} are logged, a repeated failure once`, async () => {
      let failures = 0;
      const collector = createServer((request, response) => {
        failures++;
        request.resume().once('end', () => response.writeHead(400).end());
      });
      collector.listen(0, '127.0.0.1');
      await once(collector, 'listening');
      const service = await startService({
        env: {
          ...tracing,
          METRICS_SERVICES: 'metrics',
          OTEL_METRICS_EXPORTER: 'otlp',
          OTEL_METRIC_EXPORT_INTERVAL: '100',
          OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/metrics`,
          LOG_LEVEL: 'warn',
        },
      });
      try {
        await until(async () => failures >= 5);
        const lines = service.log.filter(
          ({ msg, reason }) =>
            msg === 'OpenTelemetry reports a problem' && /metrics export failed/.test(String(reason)),
        );
        expect(lines).to.have.length(1);
      } finally {
        await service.stop();
        collector.closeAllConnections();
        await new Promise((resolve) => collector.close(resolve));
      }
    });

  for (const [name, value, reason] of [
    ['METRICS_SCHEDULE', 'sometimes', 'METRICS_SCHEDULE is no cron expression: sometimes'],
    ['METRICS_NAME_PREFIX', 'a-b', 'METRICS_NAME_PREFIX is not made of letters, digits and _'],
  ] as const)
    it(`a wrong ${name} stops the start`, async () => {
      const error = await startService({ env: { METRICS_ENABLED: 'true', [name]: value } }).then(
        () => undefined,
        (failure: Error) => failure,
      );
      expect(error?.message).to.equal(reason);
    });
});
