import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** The messages of OTLP, generated from the definitions that the OpenTelemetry project publishes. */
const { opentelemetry } = createRequire(import.meta.url)('otlp-definitions/build/src/generated/root.js');
const { trace, metrics } = opentelemetry.proto.collector;

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** 2 is an error. */
  readonly status: number;
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface ReceivedMetric {
  readonly name: string;
  readonly kind: 'sum' | 'gauge' | 'histogram';
  readonly points: readonly { readonly attributes: Readonly<Record<string, unknown>>; readonly value: number }[];
}

/** A collector that takes OTLP over HTTP, as protobuf or JSON, and keeps what it receives. */
export interface OtlpReceiver {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly spans: ReceivedSpan[];
  /** The metrics of the last export. */
  readonly metrics: ReceivedMetric[];
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  stop(): Promise<void>;
}

type Attribute = { key: string; value?: Record<string, unknown> };

const attributesOf = (all: readonly Attribute[] = []): Record<string, unknown> =>
  Object.fromEntries(
    all.map(({ key, value = {} }) => [key, value.stringValue ?? Number(value.intValue ?? value.doubleValue)]),
  );
/** JSON has ids as hexadecimal digits, protobuf as bytes. */
const idOf = (id: string | Uint8Array | undefined): string =>
  typeof id === 'string' ? id : Buffer.from(id ?? []).toString('hex');

// biome-ignore lint/suspicious/noExplicitAny: the definitions have no types
type Message = any;

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const received: ReceivedMetric[] = [];
  const requests: OtlpReceiver['requests'] = [];

  function takeSpans({ resourceSpans = [] }: Message): void {
    for (const { resource, scopeSpans = [] } of resourceSpans)
      for (const span of scopeSpans.flatMap((scope: Message) => scope.spans ?? []))
        spans.push({
          traceId: idOf(span.traceId),
          spanId: idOf(span.spanId),
          parentSpanId: idOf(span.parentSpanId),
          name: span.name,
          kind: span.kind,
          attributes: attributesOf(span.attributes),
          status: span.status?.code ?? 0,
          resource: attributesOf(resource?.attributes),
        });
  }

  function takeMetrics({ resourceMetrics = [] }: Message): void {
    received.length = 0;
    const all = resourceMetrics
      .flatMap((one: Message) => one.scopeMetrics ?? [])
      .flatMap((one: Message) => one.metrics ?? []);
    for (const metric of all) {
      const kind = (['sum', 'gauge', 'histogram'] as const).find((one) => metric[one]) ?? 'gauge';
      const points = (metric[kind]?.dataPoints ?? []).map((point: Message) => ({
        attributes: attributesOf(point.attributes),
        value: Number(point.count ?? point.asDouble ?? point.asInt),
      }));
      received.push({ name: metric.name, kind, points });
    }
  }

  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const sent = Buffer.concat(parts);
    const bytes = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
    const isTraces = request.url === '/v1/traces';
    const isJson = request.headers['content-type'] === 'application/json';
    const messages = isTraces ? trace.v1.ExportTraceServiceRequest : metrics.v1.ExportMetricsServiceRequest;
    const message = isJson ? JSON.parse(bytes.toString()) : messages.decode(bytes);
    if (isTraces) takeSpans(message);
    else takeMetrics(message);
    requests.push({ path: request.url ?? '', headers: request.headers });
    response.writeHead(200, { 'content-type': request.headers['content-type'] ?? '' }).end(isJson ? '{}' : '');
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metrics: received,
    requests,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
