import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { errorEnvelope, Failure, requestScope } from '#kernel';
import type { ObservedOperation, OperationObserver } from './contract.ts';
import type { SpanDeps } from './span-context.ts';

const SPAN_KINDS = {
  statement: SpanKind.CLIENT,
  request: SpanKind.CLIENT,
  invocation: SpanKind.INTERNAL,
  job: SpanKind.CONSUMER,
} as const;

/**
 * Traces operations below the span of the request or job that causes them. Where that is not traced, they are not either; a job begins
 * a trace of its own.
 */
export function createOperationTracer({ tracer, contexts, propagator }: SpanDeps): OperationObserver {
  const inject = (operation: ObservedOperation, context: Context) => {
    if (operation.setHeader)
      propagator?.inject(context, operation, { set: (to, name, value) => to.setHeader?.(name, value) });
  };

  async function runInSpan<T>(operation: ObservedOperation, work: () => Promise<T>, parent: Context): Promise<T> {
    const options = { kind: SPAN_KINDS[operation.kind], attributes: attributesOf(operation) };
    const span = tracer.startSpan(nameOf(operation), options, parent);
    const active = trace.setSpan(parent, span);
    inject(operation, active);
    const run = operation.kind === 'job' ? () => runInTrace(span.spanContext().traceId, work) : work;
    try {
      const result = await contexts.with(active, run);
      span.end();
      return result;
    } catch (error) {
      endWithError(span, error);
      throw error;
    }
  }

  return {
    run(operation, work) {
      // The request that wakes a worker is not the one that has added the job.
      if (operation.kind === 'job') return runInSpan(operation, work, ROOT_CONTEXT);
      const parent = contexts.active();
      if (trace.getSpan(parent)?.isRecording()) return runInSpan(operation, work, parent);
      inject(operation, parent);
      return work();
    },
  };
}

/** Runs a job so that its log lines have the id of its trace. */
function runInTrace<T>(trace: string, work: () => Promise<T>): Promise<T> {
  const { id = trace, invocation } = requestScope.getStore() ?? {};
  return requestScope.run({ id, invocation, trace }, work);
}

const nameOf = ({ kind, name, owner }: ObservedOperation): string =>
  kind === 'invocation' ? `${owner} ${name}` : kind === 'job' ? `process ${name}` : name;

function attributesOf({ kind, name, owner, text }: ObservedOperation): Attributes {
  const common = { 'tenon.owner': owner };
  if (kind === 'statement')
    return {
      ...common,
      'db.system.name': 'postgresql',
      'db.operation.name': name,
      ...(text && { 'db.query.text': text }),
    };
  if (kind === 'job') return { ...common, 'messaging.system': 'tenon', 'messaging.destination.name': name };
  if (kind === 'invocation') return { ...common, 'code.function.name': name };
  const [method = '', origin = ''] = name.split(' ');
  return { ...common, 'http.request.method': method, 'url.full': origin };
}

/** Ends the span of failed work. A refusal that a client has caused is no error of the service. */
export function endWithError(span: Span, error: unknown): void {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  span.setAttribute('error.type', String(code ?? name ?? 'Error'));
  const isRefusal = error instanceof Failure && errorEnvelope(error, { admin: false }).status < 500;
  // Texts of errors may hold values of rows.
  if (!isRefusal) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
