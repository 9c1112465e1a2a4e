import type { Context } from 'koa';
import { ClientGone, type RequestScope } from '#kernel';

const READ_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'SEARCH']);

/**
 * The scope of a request, with the signal that its client disconnected. The signal is created on first use: it costs
 * more than the rest of the scope, and most requests need none.
 */
export class ClientRequestScope implements RequestScope {
  readonly id: string;
  readonly invocation: string | undefined;
  readonly trace: string | undefined;
  readonly #res: Context['res'];
  #reads: boolean;
  #signal: AbortSignal | undefined;

  constructor({ id, invocation, trace }: RequestScope, { method, res }: Context) {
    this.id = id;
    this.invocation = invocation;
    this.trace = trace;
    this.#reads = READ_METHODS.has(method);
    this.#res = res;
  }

  get signal(): AbortSignal | undefined {
    if (this.#reads) this.#signal ??= createDisconnectSignal(this.#res);
    return this.#signal;
  }

  markReadOnly(): void {
    this.#reads = true;
  }
}

/**
 * The signal that the client of a request disconnected, for requests of any method. A write is rolled back by it when
 * the client disconnects before the commit begins.
 */
export const createDisconnectSignalGetter = ({ res }: Pick<Context, 'res'>): (() => AbortSignal) => {
  return () => {
    const signal = disconnectSignals.get(res) ?? createDisconnectSignal(res);
    disconnectSignals.set(res, signal);
    return signal;
  };
};

/** The signals of requests, one for each request, however many writes it has. */
const disconnectSignals = new WeakMap<Context['res'], AbortSignal>();

function createDisconnectSignal(res: Context['res']): AbortSignal {
  const controller = new AbortController();
  const abortUnlessFinished = () => {
    if (!res.writableFinished) controller.abort(new ClientGone());
  };
  if (res.closed) abortUnlessFinished();
  else res.once('close', abortUnlessFinished);
  return controller.signal;
}
