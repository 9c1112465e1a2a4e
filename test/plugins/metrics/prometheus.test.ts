import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { type Prometheus, queriesOfDashboard, startPrometheus } from '../../support/prometheus.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const TOKEN = 'a-token-for-prometheus';
const DASHBOARD = new URL('../../../docs/dashboards/grafana.json', import.meta.url);
/** Panels of parts that this service has not used. */
const EMPTY = /confined code|Jobs by queue|from the cache|Refusals|Denied|failed requests/;

describe('a Prometheus that reads /metrics', function () {
  // The first run downloads the Debian package.
  this.timeout(180_000);
  let service: InProcessService;
  let prometheus: Prometheus;
  before(async () => {
    service = await startService({ env: { METRICS_ENABLED: 'true', METRICS_TOKENS: TOKEN } });
    prometheus = await startPrometheus({ url: service.url, token: TOKEN });
  });
  after(async () => {
    await prometheus?.stop();
    await service?.stop();
  });

  it('has no objection to the format', async () => {
    const { body } = await service.request('GET', '/metrics', { headers: { authorization: `Metrics ${TOKEN}` } });
    expect(await prometheus.lint(body)).to.equal('');
  });

  it('counts the requests that the service has answered', async () => {
    for (let count = 0; count < 7; count++) await service.request('GET', '/server/ping');
    const query = 'sum(tenon_http_request_duration_seconds_count{route="/server/ping",status="200"})';
    await until(async () => (await prometheus.query(query))[0]?.value[1] === '7');
    expect((await prometheus.query('up'))[0]?.value[1]).to.equal('1');
  });

  it('answers every query of the Grafana dashboard', async () => {
    await until(async () => (await prometheus.query('count_over_time(up[1m]) > 2')).length > 0);
    const queries = queriesOfDashboard(await readFile(DASHBOARD, 'utf8'));
    expect(queries).to.have.length.above(20);
    const empty: string[] = [];
    for (const [title, query] of queries) if ((await prometheus.query(query)).length === 0) empty.push(title);
    expect(empty.filter((title) => !EMPTY.test(title))).to.deep.equal([]);
  });
});
