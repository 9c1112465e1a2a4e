import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * On whose behalf something happens (the field says "accountability"). Made by the plugins that identify people, and
 * by `host.asSystem(reason)` for work nobody asked for; every service verb takes one as its first argument.
 */
export interface Caller {
  readonly user: string | null;
  readonly role: string | null;
  readonly admin: boolean;
  readonly app: boolean;
  readonly share?: string | null;
  readonly ip?: string | null;
  readonly userAgent?: string | null;
  readonly origin?: string | null;
  /** Set on system callers only: why no user's permissions apply. */
  readonly reason?: string;
  /** Whose code acts, as `name@version`: a plugin without a user, or a confined package on behalf of one. */
  readonly owner?: string;
}

/** What one request carries through asynchronous calls: its id for the log, and a signal that its client is gone. */
export interface RequestScope {
  /** The client may choose it. */
  readonly id: string;
  /** Of this one request whatever the client says: what is kept of who did what cannot be made to look like another's. */
  readonly invocation?: string;
  /**
   * Aborts with a `ClientGone` when the client leaves before it has its answer. Only reads (GET, HEAD, SEARCH) have one:
   * a write runs to its end, and so does what it sets off. Made when first asked for.
   */
  readonly signal?: AbortSignal | undefined;
  /** Says that the request only reads, although by its method it could be a write: from then on it ends with its client. */
  onlyReads?(): void;
}

/** Why something ended that a client no longer waits for. Nobody is there to be told. */
export class ClientGone extends Error {
  constructor() {
    super('the client went away');
    this.name = 'ClientGone';
  }
}

export const requestScope = new AsyncLocalStorage<RequestScope>();

const systemCallers = new WeakSet<Caller>();

/** Only `capabilities/` calls this: a system caller is known by identity, so no input can look like one. */
export function makeSystemCaller(owner: string, reason: string): Caller {
  const caller: Caller = Object.freeze({ user: null, role: null, admin: true, app: true, reason, owner });
  systemCallers.add(caller);
  return caller;
}

export const isSystem = (caller: Caller): boolean => systemCallers.has(caller);

/** A request without a token (specification, "Authentication", 6): served under the Public role. */
export const publicCaller = (from: Pick<Caller, 'ip' | 'userAgent' | 'origin'> = {}): Caller => ({
  ...from,
  user: null,
  role: null,
  admin: false,
  app: false,
});
