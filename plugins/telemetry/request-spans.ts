import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  trace,
} from '@opentelemetry/api';
import type { AnsweringRoute, RequestEnd, RequestObservation, RequestObserver } from '../http/contract.ts';
import { clientAddressOf } from '../http/library.ts';
import { endWithError } from './operation-spans.ts';
import type { SpanDeps } from './span-context.ts';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const HEADERS: TextMapGetter<Headers> = {
  keys: (headers) => Object.keys(headers),
  get(headers, name) {
    const value = headers[name];
    return typeof value === 'string' || value === undefined ? value : value[0];
  },
};

/** Traces requests: a span for each, below that of the client where it sends `traceparent`, and one for the plugin that answers. */
export const createRequestTracer = (deps: SpanDeps): RequestObserver => ({
  begin(ctx) {
    const { method, path, protocol, req } = ctx;
    const parent = deps.propagator?.extract(ROOT_CONTEXT, req.headers, HEADERS) ?? ROOT_CONTEXT;
    const span = deps.tracer.startSpan(
      method,
      {
        kind: SpanKind.SERVER,
        attributes: {
          'http.request.method': method,
          'url.path': path,
          'url.scheme': protocol,
          'client.address': clientAddressOf(ctx) ?? '',
        },
      },
      parent,
    );
    return new RequestSpan(deps, span, trace.setSpan(parent, span));
  },
});

class RequestSpan implements RequestObservation {
  readonly trace: string;
  readonly #deps: SpanDeps;
  readonly #span: Span;
  readonly #context: Context;

  constructor(deps: SpanDeps, span: Span, context: Context) {
    this.#deps = deps;
    this.#span = span;
    this.#context = context;
    this.trace = span.spanContext().traceId;
  }

  run(layers: () => Promise<void>): Promise<void> {
    return this.#deps.contexts.with(this.#context, layers);
  }

  runRoute(route: AnsweringRoute, handle: () => Promise<void>): Promise<void> {
    return this.#span.isRecording() ? this.#runRoute(route, handle) : handle();
  }

  async #runRoute({ path, owner }: AnsweringRoute, handle: () => Promise<void>): Promise<void> {
    const { tracer, contexts } = this.#deps;
    const active = contexts.active();
    const span = tracer.startSpan(owner, { attributes: { 'http.route': path, 'tenon.owner': owner } }, active);
    try {
      await contexts.with(trace.setSpan(active, span), handle);
      span.end();
    } catch (error) {
      endWithError(span, error);
      throw error;
    }
  }

  end({ method, status, route, user }: RequestEnd): void {
    const span = this.#span;
    if (route) {
      span.updateName(`${method} ${route.path}`);
      span.setAttributes({ 'http.route': route.path, 'tenon.owner': route.owner });
    }
    span.setAttribute('http.response.status_code', status);
    if (user !== null) span.setAttribute('user.id', user);
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  }
}
