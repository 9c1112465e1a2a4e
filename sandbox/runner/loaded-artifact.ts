import type { ChildFailureCode, ChildMessage, GuestLimits, HandlerContextData } from '../protocol/messages.ts';
import type { GuestRealm } from './isolate.ts';
import { parseRealmMessage } from './realm-message.ts';
import { REALM_OPERATION_CODES } from './realm-ops.ts';
import { createFreshRealmProvider, createSharedRealmProvider, type RealmProvider } from './realm-provider.ts';

interface Invocation {
  readonly id: number;
  readonly realm: GuestRealm;
  readonly timers: Map<string, NodeJS.Timeout>;
  /** Milliseconds of CPU. */
  cpuLeft: number;
}

/** A loaded artifact: executes messages of the host and sends their results. */
export interface LoadedArtifactExecutor {
  /** `invocation`: `{ entry, context }` as JSON; `input`: JSON. */
  invoke(id: number, invocation: string, input: string): void;
  reply(id: number, call: number, ok: boolean, text: string): void;
  cancel(id: number): void;
}

export interface LoadedArtifactExecutorOptions {
  readonly limits: GuestLimits;
  /** True: one realm serves all invocations, also concurrent ones. False: each invocation has a fresh realm. */
  readonly reuse: boolean;
  /** The realm in which the contract was read. */
  readonly first: GuestRealm;
  createRealm(): GuestRealm;
  send(message: ChildMessage, body?: Buffer | string): void;
}

export const serializeInvocation = (entry: string, context: HandlerContextData): string =>
  JSON.stringify({ entry, context });

/** Failure codes of the protocol by the words that the realm uses for them. */
const FAILURES: Readonly<Record<string, ChildFailureCode>> = {
  'invalid-result': 'invalid-result',
  'result-too-large': 'result-too-large',
  rejected: 'rejected',
};

const TOO_LONG_REFUSAL = JSON.stringify({ code: 'invalid_request', message: 'the arguments are too long' });

export const createLoadedArtifactExecutor = (options: LoadedArtifactExecutorOptions): LoadedArtifactExecutor =>
  new ArtifactRunner(options);

/**
 * Runs the invocations of one artifact. A realm whose guest was interrupted is not used again. With `reuse` all its
 * invocations fail together.
 */
class ArtifactRunner implements LoadedArtifactExecutor {
  readonly #limits: GuestLimits;
  readonly #reuse: boolean;
  readonly #send: LoadedArtifactExecutorOptions['send'];
  readonly #shared: ReturnType<typeof createSharedRealmProvider> | undefined;
  readonly #realms: RealmProvider;
  readonly #invocations = new Map<number, Invocation>();

  constructor({ limits, reuse, first, createRealm, send }: LoadedArtifactExecutorOptions) {
    this.#limits = limits;
    this.#reuse = reuse;
    this.#send = send;
    this.#shared = reuse ? createSharedRealmProvider(first, createRealm) : undefined;
    this.#realms = this.#shared ?? createFreshRealmProvider(first, createRealm);
    this.#realms.refill();
  }

  invoke(id: number, invocationJson: string, input: string): void {
    const realm = this.#realms.take();
    const invocation: Invocation = { id, realm, timers: new Map(), cpuLeft: this.#limits.cpu };
    if (realm.state !== 'ready') {
      this.#shared?.drop();
      this.#fail(invocation, realm.state === 'timeout' ? 'timeout' : 'guest-error');
      realm.release();
      return;
    }
    this.#invocations.set(id, invocation);
    this.#enter(invocation, REALM_OPERATION_CODES.invoke, 0, invocationJson, input);
  }

  reply(id: number, call: number, ok: boolean, text: string): void {
    const invocation = this.#invocations.get(id);
    if (invocation) this.#enter(invocation, REALM_OPERATION_CODES.reply, call, text, ok ? 1 : 0);
  }

  cancel(id: number): void {
    const invocation = this.#invocations.get(id);
    if (!invocation) return;
    this.#finish(invocation);
    // A shared realm has other invocations, so only this one is ended in it. That runs no guest code.
    if (this.#reuse) invocation.realm.enter(REALM_OPERATION_CODES.end, id, 0, '', 0, this.#limits.cpu);
  }

  /** Enters the realm for an invocation and handles its messages. */
  #enter(invocation: Invocation, op: number, key: number, text: string, more: string | number): void {
    const { id, realm } = invocation;
    const { cpuTime, isInterrupted } = realm.enter(op, id, key, text, more, invocation.cpuLeft);
    invocation.cpuLeft -= cpuTime;
    if (isInterrupted || invocation.cpuLeft <= 0) this.#abandon(realm);
    else this.#drainMessages(invocation);
  }

  #drainMessages(entered: Invocation): void {
    for (let text = entered.realm.fetch(); text !== undefined; ) {
      const { words, body, hasMore } = parseRealmMessage(text);
      this.#handleMessage(entered, words, body);
      text = hasMore ? entered.realm.fetch() : undefined;
    }
  }

  #handleMessage(entered: Invocation, [kind, id, ...rest]: readonly string[], body: string): void {
    // Messages of the evaluation have no owner and belong to the first invocation.
    const invocation = id === '0' ? entered : this.#invocations.get(Number(id));
    if (!invocation) return;
    switch (kind) {
      case 'result':
        this.#sendResult(invocation, body);
        break;
      case 'none':
        this.#finish(invocation);
        this.#send({ type: 'result', id: invocation.id, none: true });
        break;
      case 'failure':
        this.#fail(invocation, FAILURES[rest[0] ?? ''] ?? 'guest-error', body);
        break;
      case 'call':
        this.#forwardCall(invocation, Number(rest[0]), rest[1] ?? '', body);
        break;
      case 'start':
        this.#startTimer(invocation, rest[0] ?? '', Number(rest[1]), rest[2] === '1');
        break;
      case 'stop':
        this.#stopTimer(invocation, rest[0] ?? '');
        break;
    }
  }

  #sendResult(invocation: Invocation, text: string): void {
    this.#finish(invocation);
    const body = Buffer.from(text, 'utf8');
    if (body.length > this.#limits.result) this.#send({ type: 'failure', id: invocation.id, code: 'result-too-large' });
    else this.#send({ type: 'result', id: invocation.id }, body);
  }

  #forwardCall(invocation: Invocation, call: number, method: string, text: string): void {
    const { id } = invocation;
    const body = Buffer.from(text, 'utf8');
    if (body.length <= this.#limits.hostCall) this.#send({ type: 'call', id, call, method }, body);
    else if (call > 0) setImmediate(() => this.reply(id, call, false, TOO_LONG_REFUSAL));
  }

  #startTimer(invocation: Invocation, key: string, wait: number, repeat: boolean): void {
    const fire = (): void => {
      if (!repeat) invocation.timers.delete(key);
      if (this.#invocations.has(invocation.id)) this.#enter(invocation, REALM_OPERATION_CODES.fire, Number(key), '', 0);
    };
    invocation.timers.set(key, repeat ? setInterval(fire, wait) : setTimeout(fire, wait));
  }

  #stopTimer(invocation: Invocation, key: string): void {
    clearTimeout(invocation.timers.get(key));
    invocation.timers.delete(key);
  }

  /** Ends an invocation. With `reuse` only the state that it wrote into the realm remains. */
  #finish(invocation: Invocation): void {
    this.#invocations.delete(invocation.id);
    for (const timer of invocation.timers.values()) clearTimeout(timer);
    invocation.timers.clear();
    if (this.#reuse) return;
    invocation.realm.release();
    this.#realms.refill();
  }

  #fail(invocation: Invocation, code: ChildFailureCode, body = ''): void {
    this.#finish(invocation);
    this.#send({ type: 'failure', id: invocation.id, code }, body);
  }

  #abandon(realm: GuestRealm): void {
    this.#shared?.drop();
    for (const invocation of this.#invocations.values()) {
      if (invocation.realm !== realm) continue;
      this.#fail(invocation, 'timeout');
    }
    realm.release();
  }
}
