import { setTimeout as pause } from 'node:timers/promises';
import { context, propagation, type TextMapPropagator, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import { type Log, VERSION } from '#kernel';
import type { RequestObserver } from '../http/contract.ts';
import type { OperationObserver } from './contract.ts';
import { addDiagnosticLog } from './diagnostic-log.ts';
import { createOperationTracer } from './operation-spans.ts';
import { createRequestTracer } from './request-spans.ts';
import { createSampler } from './sampler.ts';
import type { OtlpConnection, ResourceAttributes, TraceSettings } from './settings.ts';

/** Milliseconds that the last export may take when the service stops. */
const STOP_LIMIT = 2000;
/** Characters of the longest attribute of a span, such as the text of a statement. */
const MAX_ATTRIBUTE_LENGTH = 4096;

export interface Tracing {
  readonly requests: RequestObserver;
  readonly operations: OperationObserver;
  /** Exports the spans that wait, for at most two seconds. */
  stop(): Promise<void>;
}

interface TracingOptions {
  readonly settings: TraceSettings;
  readonly resource: ResourceAttributes;
  readonly log: Log;
}

/** Starts to trace requests and operations, and to export their spans in batches. Loads the libraries of OpenTelemetry. */
export async function startTracing({ settings, resource, log }: TracingOptions): Promise<Tracing> {
  const { batch, connection, propagates, ratio, sampler } = settings;
  const exporter = await createExporter(connection);
  const endDiagnosticLog = addDiagnosticLog(log);
  const provider = new TracerProvider({
    resource: resourceFromAttributes(resource),
    sampler: createSampler(sampler, ratio),
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE_LENGTH },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        scheduledDelayMillis: batch.delay,
        exportTimeoutMillis: batch.timeout,
        maxQueueSize: batch.queue,
        maxExportBatchSize: Math.min(batch.size, batch.queue),
      }),
    ],
  });
  const contexts = new AsyncLocalStorageContextManager().enable();
  const propagator: TextMapPropagator | undefined = propagates ? new W3CTraceContextPropagator() : undefined;
  // Packages with full authority add spans of their own by `@opentelemetry/api`.
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(contexts);
  if (propagator) propagation.setGlobalPropagator(propagator);
  const deps = { tracer: provider.getTracer('tenon', VERSION), contexts, propagator };
  return {
    requests: createRequestTracer(deps),
    operations: createOperationTracer(deps),
    async stop() {
      const failed = (error: unknown) =>
        log.warn(
          { reason: error instanceof Error ? error.message : String(error) },
          'the last spans were not exported',
        );
      await Promise.race([provider.shutdown().catch(failed), pause(STOP_LIMIT, undefined, { ref: false })]);
      for (const api of [trace, context, propagation]) api.disable();
      endDiagnosticLog();
      contexts.disable();
    },
  };
}

/** The exporter of the chosen protocol; the code of the other one is not loaded. */
async function createExporter({ url, headers, protocol, timeout, compression }: OtlpConnection): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  // The type of the option is an enumeration that its package does not export to others.
  const options = { url, headers: { ...headers }, timeoutMillis: timeout, compression: compression as never };
  return new OTLPTraceExporter(options);
}
