import { ClientGone, requestScope } from '#kernel';
import type { HttpContext } from '../../http/contract.ts';

type Scope = NonNullable<ReturnType<typeof requestScope.getStore>>;

/**
 * A query that is sent by POST ends with its client, as one by GET does: by its method it could be a write, which the kernel
 * lets run to its end.
 */
export function untilLeft<T>({ res }: HttpContext, work: () => Promise<T>): Promise<T> {
  const scope = requestScope.getStore();
  if (!scope) return work();
  return requestScope.run(new Leaving(scope, res), work);
}

/** A class, as the kernel's own is: an object with a getter of its own is a new shape for every request. */
class Leaving implements Scope {
  readonly id: string;
  readonly invocation?: string;
  readonly #res: HttpContext['res'];
  #signal: AbortSignal | undefined;

  constructor({ id, invocation }: Scope, res: HttpContext['res']) {
    this.id = id;
    if (invocation !== undefined) this.invocation = invocation;
    this.#res = res;
  }

  /** Made when first asked for. */
  get signal(): AbortSignal {
    this.#signal ??= signalOf(this.#res);
    return this.#signal;
  }
}

function signalOf(res: HttpContext['res']): AbortSignal {
  const leave = new AbortController();
  const check = () => {
    if (!res.writableFinished) leave.abort(new ClientGone());
  };
  if (res.closed) check();
  else res.once('close', check);
  return leave.signal;
}
