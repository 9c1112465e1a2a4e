import type { Context, ContextManager, TextMapPropagator, Tracer } from '@opentelemetry/api';

/** What spans are made with. */
export interface SpanDeps {
  readonly tracer: Tracer;
  /** Holds the span of the running code. */
  readonly contexts: Pick<ContextManager, 'active'> & {
    with<T>(context: Context, work: () => T): T;
  };
  /** Undefined where `traceparent` is neither read nor sent. */
  readonly propagator: TextMapPropagator | undefined;
}
