import { expect } from 'chai';
import { type OtlpReceiver, startOtlpReceiver } from '../../support/otlp-receiver.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const QUICK = { OTEL_BSP_SCHEDULE_DELAY: '20', LOG_LEVEL: 'debug' };

/** The spans of one trace, once the span of its request has arrived. */
async function spansOf(receiver: OtlpReceiver, trace: string) {
  const own = () => receiver.spans.filter(({ traceId }) => traceId === trace);
  await until(async () => own().some(({ kind }) => kind === 2));
  return own();
}

describe('traces by OTLP', () => {
  let receiver: OtlpReceiver;
  let service: InProcessService;

  before(async () => {
    receiver = await startOtlpReceiver();
    service = await startService({
      env: {
        ...QUICK,
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20secret',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
        IMPORT_IP_ALLOW_LIST: '127.0.0.1',
      },
    });
  });
  after(async () => {
    await service?.stop();
    await receiver?.stop();
  });

  it('a request with traceparent is traced below the span of its client', async () => {
    await service.request('GET', '/users/me?fields=id', {
      token: service.admin.token,
      headers: { traceparent: `00-${TRACE}-${PARENT}-01` },
    });
    const spans = await spansOf(receiver, TRACE);
    const request = spans.find(({ kind }) => kind === 2);
    expect(request).to.deep.include({ name: 'GET /users/me', parentSpanId: PARENT, status: 0 });
    expect(request?.attributes).to.include({
      'http.request.method': 'GET',
      'http.route': '/users/me',
      'http.response.status_code': 200,
      'tenon.owner': '@tenon/users',
      'client.address': '127.0.0.1',
    });
    expect(request?.resource).to.include({ 'service.name': 'tenon', 'deployment.environment.name': 'test' });
    expect(receiver.requests[0]?.headers).to.include({ 'x-key': 'a secret', 'content-type': 'application/x-protobuf' });
  });

  it('the plugin that answers and each statement have spans below the request', async () => {
    const trace = TRACE.replace('4b', '5b');
    await service.request('GET', '/roles?fields=id', {
      token: service.admin.token,
      headers: { traceparent: `00-${trace}-${PARENT}-01` },
    });
    const spans = await spansOf(receiver, trace);
    const request = spans.find(({ kind }) => kind === 2);
    const plugin = spans.find(({ name }) => name === '@tenon/users');
    expect(plugin?.parentSpanId).to.equal(request?.spanId);
    const statements = spans.filter(({ attributes }) => attributes['db.system.name'] === 'postgresql');
    const read = statements.find(({ parentSpanId }) => parentSpanId === plugin?.spanId);
    expect(read?.attributes['db.query.text']).to.contain('platform_roles');
    expect(read?.attributes['tenon.owner']).to.equal('@tenon/query');
  });

  it('the log lines of a request have the id of its trace, and other lines have none', async () => {
    const trace = TRACE.replace('4b', '6b');
    await service.request('GET', '/nothing', { headers: { traceparent: `00-${trace}-${PARENT}-01` } });
    const line = service.log.find(({ path }) => path === '/nothing');
    expect(line).to.include({ trace_id: trace, status: 404 });
    // This line is the kernel's, which knows nothing of traces.
    const refusal = service.log.find(({ msg, status }) => msg === 'request refused' && status === 404);
    expect(refusal).to.include({ trace_id: trace, owner: 'kernel' });
    expect(service.log.find(({ msg }) => String(msg).startsWith('connected'))).not.to.have.property('trace_id');
    const { log } = service;
    await service.request('GET', '/server/ping');
    expect(log.at(-1)?.trace_id).to.match(/^[0-9a-f]{32}$/);
  });

  it('a request to another server carries traceparent of its span', async () => {
    const trace = TRACE.replace('4b', '7b');
    await service.request('POST', '/files/import', {
      token: service.admin.token,
      body: { url: `${receiver.url}/picture`, data: {} },
      headers: { traceparent: `00-${trace}-${PARENT}-01` },
    });
    const spans = await spansOf(receiver, trace);
    const outgoing = spans.find(({ attributes }) => attributes['url.full'] === receiver.url);
    const request = receiver.requests.find(({ path }) => path === '/picture');
    expect(request?.headers.traceparent).to.equal(`00-${trace}-${outgoing?.spanId}-01`);
  });

  it('a request whose client does not sample its trace is not traced, and its log line has the id', async () => {
    const trace = TRACE.replace('4b', '8b');
    await service.request('GET', '/server/info', { headers: { traceparent: `00-${trace}-${PARENT}-00` } });
    expect(service.log.at(-1)).to.include({ trace_id: trace });
    const later = TRACE.replace('4b', '9b');
    await service.request('GET', '/server/info', { headers: { traceparent: `00-${later}-${PARENT}-01` } });
    await spansOf(receiver, later);
    expect(receiver.spans.filter(({ traceId }) => traceId === trace)).to.deep.equal([]);
  });

  it('a request to another server that is not traced carries the id of its trace, and that it is not traced', async () => {
    const trace = TRACE.replace('4b', 'bb');
    await service.request('POST', '/files/import', {
      token: service.admin.token,
      body: { url: `${receiver.url}/unsampled`, data: {} },
      headers: { traceparent: `00-${trace}-${PARENT}-00` },
    });
    const request = receiver.requests.find(({ path }) => path === '/unsampled');
    expect(request?.headers.traceparent).to.match(new RegExp(`^00-${trace}-[0-9a-f]{16}-00$`));
  });

  it('hostile values of traceparent and tracestate begin a trace of their own and are answered', async () => {
    const hostile = ['', '00', `00-${'0'.repeat(32)}-${PARENT}-01`, `ff-${TRACE}-${PARENT}-01`, 'x'.repeat(8000)];
    for (const traceparent of hostile) {
      const reply = await service.request('GET', '/server/ping', {
        headers: { traceparent, tracestate: 'a=b,'.repeat(1000) },
      });
      expect(reply.status).to.equal(200);
      expect(service.log.at(-1)?.trace_id).to.match(/^[0-9a-f]{32}$/);
      expect(service.log.at(-1)?.trace_id).not.to.equal(TRACE);
    }
  });

  it('a refusal of a client is no error of the span, which has its code', async () => {
    const trace = TRACE.replace('4b', 'ab');
    await service.request('GET', '/items/nothing', { headers: { traceparent: `00-${trace}-${PARENT}-01` } });
    const spans = await spansOf(receiver, trace);
    const plugin = spans.find(({ name }) => name === '@tenon/items');
    expect(plugin).to.deep.include({ status: 0 });
    expect(plugin?.attributes).to.include({ 'error.type': 'FORBIDDEN' });
  });
});

describe('the sampler traceidratio', () => {
  const COUNT = 200;
  /** The spans of requests with a traceparent whose trace id and flag the client has chosen, and those of their plugins. */
  async function countSpans(sampler: string, trace: string, flag: '00' | '01') {
    const receiver = await startOtlpReceiver();
    try {
      const service = await startService({
        env: {
          ...QUICK,
          OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
          OTEL_TRACES_SAMPLER: sampler,
          OTEL_TRACES_SAMPLER_ARG: '0.5',
        },
      });
      try {
        const headers = { traceparent: `00-${trace}-${PARENT}-${flag}` };
        for (let at = 0; at < COUNT; at++) await service.request('GET', '/items/nothing', { headers });
      } finally {
        // Exports the last spans.
        await service.stop();
      }
      const spans = receiver.spans.filter(({ traceId }) => traceId === trace);
      const requests = spans.filter(({ kind }) => kind === 2);
      const parents = new Set(requests.map(({ spanId }) => spanId));
      const plugins = spans.filter(({ name, parentSpanId }) => name === '@tenon/items' && parents.has(parentSpanId));
      return { requests: requests.length, plugins: plugins.length };
    } finally {
      await receiver.stop();
    }
  }

  // The sampler of the SDK compares a number from the id with the share: it keeps the first of these ids, and never the second one.
  const REJECTED = 'ffffffff000000000000000000000001';
  for (const [title, trace, flag] of [
    ['force', '00000000000000000000000000000001', '01'],
    ['avoid', REJECTED, '00'],
  ] as const)
    it(`keeps the share of the operator where a client chooses an id and a flag to ${title} traces`, async () => {
      const { requests, plugins } = await countSpans('traceidratio', trace, flag);
      // Fewer than forty or more than 160 of 200 have a chance of one in ten to the eighteenth.
      expect(requests).to.be.within(40, 160);
      expect(plugins).to.equal(requests);
    });

  it('obeys the flag of a client with parentbased_', async () => {
    expect(await countSpans('parentbased_traceidratio', REJECTED, '01')).to.include({ requests: COUNT });
  });
});

describe('traces that are off, or whose collector is away', () => {
  it('without an endpoint a request has no id of a trace, and traceparent is ignored', async () => {
    const service = await startService({ env: { LOG_LEVEL: 'info' } });
    try {
      await service.request('GET', '/server/ping', { headers: { traceparent: `00-${TRACE}-${PARENT}-01` } });
      expect(service.log.at(-1)).not.to.have.property('trace_id');
    } finally {
      await service.stop();
    }
  });

  it('a collector that is away delays neither requests nor the stop', async () => {
    const service = await startService({
      env: { ...QUICK, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
    });
    const started = performance.now();
    for (let count = 0; count < 50; count++)
      expect((await service.request('GET', '/server/ping')).status).to.equal(200);
    await service.stop();
    expect(performance.now() - started).to.be.below(10_000);
  });

  it('the log has the address of the collector without user, password and query', async () => {
    const service = await startService({
      env: {
        ...QUICK,
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://tenant:s3cret@127.0.0.1:1/v1/traces?key=s3cret',
        OTEL_EXPORTER_OTLP_TIMEOUT: '100',
      },
    });
    try {
      await service.request('GET', '/server/ping');
      await until(async () => service.log.some(({ msg }) => msg === 'OpenTelemetry reports a problem'));
    } finally {
      await service.stop();
    }
    const line = service.log.find(({ msg }) => msg === 'traces are exported');
    expect(line).to.include({ url: 'http://127.0.0.1:1/v1/traces' });
    expect(JSON.stringify(service.log)).not.to.match(/s3cret|tenant/);
  });

  it('an endpoint that is no address stops the start with the name of its setting', async () => {
    const error = await startService({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' } }).then(
      () => undefined,
      (failure: Error) => failure,
    );
    expect(error?.message).to.equal('OTEL_EXPORTER_OTLP_ENDPOINT is no http: or https: address');
  });
});
