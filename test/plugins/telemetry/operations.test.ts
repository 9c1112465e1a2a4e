import { expect } from 'chai';
import {
  type ConfinedPackageFolder,
  createConfinedPackageFolder,
  renderConfinedEndpoint,
} from '../../http/confined-packages.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../../support/otlp-receiver.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const TRACE = 'cbf92f3577b34da6a3ce929d0e0e4736';
const ECHO = 'service-extension-echo';

describe('confined code and background jobs with traces and metrics', function () {
  // Detecting the layers of confinement takes seconds on a busy machine.
  this.timeout(60_000);
  let packages: ConfinedPackageFolder;
  let receiver: OtlpReceiver;
  let service: InProcessService;
  const metrics = async () =>
    String((await service.request('GET', '/metrics', { token: service.admin.token })).body).split('\n');

  before(async () => {
    packages = await createConfinedPackageFolder();
    const capabilities = { endpoint: { access: 'public' }, items: { accountability: 'user' } };
    await packages.put(
      ECHO,
      { type: 'endpoint', capabilities },
      renderConfinedEndpoint(
        'echo',
        `async (_request, { host }) => ({ body: await host.items.readMany('notes', {}) })`,
      ),
    );
    receiver = await startOtlpReceiver();
    service = await startService({
      env: {
        EXTENSIONS_PATH: packages.path,
        METRICS_ENABLED: 'true',
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_BSP_SCHEDULE_DELAY: '20',
      },
    });
    const fields = [{ field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } }];
    await service.request('POST', '/collections', {
      token: service.admin.token,
      body: { collection: 'notes', schema: {}, meta: {}, fields },
    });
  });
  after(async () => {
    await service?.stop();
    await receiver?.stop();
    await packages?.remove();
  });

  it('a call of confined code has a span of its package, and its statements are below that', async () => {
    const reply = await service.request('GET', '/echo', {
      token: service.admin.token,
      headers: { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` },
    });
    expect(reply.body).to.deep.equal({ ok: true, value: [] });
    const own = () => receiver.spans.filter(({ traceId }) => traceId === TRACE);
    await until(async () => own().some(({ name }) => name === 'GET /echo/*'));
    const call = own().find(({ name }) => name === `${ECHO} endpoint`);
    expect(call?.attributes).to.include({ 'tenon.owner': ECHO });
    const route = own().find(({ spanId }) => spanId === call?.parentSpanId);
    expect(route).to.include({ name: ECHO });
    const statement = own().find(({ parentSpanId }) => parentSpanId === call?.spanId);
    expect(statement?.attributes['db.query.text']).to.contain('"notes"');
  });

  it('calls, their processes and requests are counted by package', async () => {
    const lines = await metrics();
    expect(lines).to.include(`tenon_sandbox_call_duration_seconds_count{owner="${ECHO}",outcome="ok"} 1`);
    expect(lines.join('\n')).to.contain(`route="/echo/*",owner="${ECHO}",status="200"`);
    expect(lines).to.include(`tenon_extensions_host_calls_total{owner="${ECHO}"} 1`);
    expect(lines).to.include('tenon_extensions_packages{status="loaded"} 1');
    expect(lines.join('\n')).to.match(/tenon_sandbox_processes\{kind="endpoints"\} [1-9]/);
  });

  it('a background job has a trace of its own and is counted by plugin and queue', async () => {
    await service.request('POST', '/utils/export/notes', {
      token: service.admin.token,
      body: { query: {}, format: 'csv' },
    });
    const job = () => receiver.spans.find(({ name }) => name === 'process exports');
    await until(async () => job() !== undefined);
    expect(job()).to.deep.include({ parentSpanId: '', status: 0 });
    expect(job()?.attributes).to.include({ 'tenon.owner': '@tenon/import-export' });
    expect(receiver.spans.some(({ parentSpanId }) => parentSpanId === job()?.spanId)).to.equal(true);
    const labels = '{owner="@tenon/import-export",outcome="ok",queue="exports"}';
    expect(await metrics()).to.include(`tenon_queue_run_duration_seconds_count${labels} 1`);
  });
});
