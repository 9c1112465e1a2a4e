import { type ContractEntry, type FromChild, type Limits, PROTOCOL } from '../../protocol/messages.ts';
import type { Child, ChildEnd } from '../child.ts';
import { Connection } from '../connection.ts';
import type { Bounds } from './bounds.ts';
import { RunFailure } from './failure.ts';
import type { Answer, Run } from './run.ts';

/** Why a process is no more; `asked` is the only one that is nobody's fault. */
export type Cause = 'asked' | 'refused' | 'died' | 'protocol' | 'stuck' | 'slow-start';

interface Running {
  readonly run: Run;
  readonly since: number;
  readonly timer: NodeJS.Timeout;
  readonly abort: () => void;
  resolve(answer: Answer): void;
  reject(error: RunFailure): void;
}

interface Waiting<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: RunFailure): void;
}

function waiting<T>(): Waiting<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  // Somebody looks at it later, or nobody.
  promise.catch(() => {});
  return { promise, resolve, reject };
}

const REFUSED_WHILE_LOADING = JSON.stringify({ code: 'unsupported', message: 'Nothing can be asked while loading.' });
/** Calls a script may make while it is evaluated; each is refused. */
const MAX_CALLS_WHILE_LOADING = 1000;

/**
 * One process: blank after its hello, then with one program for the rest of its life. Identity is the pipe: what
 * arrives here concerns the runs of this process or nothing.
 */
export class Worker {
  /** Resolves when its runner is up; rejects with `internal` when it never will be. */
  readonly hello: Promise<void>;
  /** The process is gone and reaped. */
  readonly gone: Promise<ChildEnd>;
  /** Told once, at the moment from which it is of no use. */
  onDown: ((cause: Cause) => void) | undefined;
  /** An invocation is over, or a cancelled one has left. `exhausted`: it had used up its CPU time. */
  onSettled: ((exhausted: boolean) => void) | undefined;
  /** Its program can do without it, and is told so when somebody else needs the place. */
  onWanted: (() => void) | undefined;
  /** It gets nothing more to do, and is ended once it is idle. */
  isLeaving = false;
  state: 'starting' | 'blank' | 'loading' | 'ready' | 'down' = 'starting';
  served = 0;
  /** Since when it has had nothing to do. */
  idleSince: number;
  /** What was wrong with the frame that it was ended for. */
  fault: unknown;
  /** Resident bytes once it had loaded, 0 while unknown. */
  baseline = 0;

  readonly #child: Child;
  readonly #limits: Limits;
  readonly #connection: Connection;
  readonly #bounds: Bounds;
  readonly #now: () => number;
  readonly #hello = waiting<void>();
  #loading: Waiting<readonly ContractEntry[]> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #callsWhileLoading = 0;
  #lastId = 0;
  readonly #runs = new Map<number, Running>();
  readonly #asked = new Map<number, () => void>();
  /** Nobody waits for these, and it has not yet been seen that they are gone. */
  readonly #leaving = new Map<number, NodeJS.Timeout>();

  constructor(child: Child, bounds: Bounds, limits: Limits, now: () => number) {
    this.#child = child;
    this.#limits = limits;
    this.#bounds = bounds;
    this.#now = now;
    this.idleSince = now();
    this.hello = this.#hello.promise;
    this.gone = child.ended;
    this.#connection = new Connection(child.channel, limits, {
      frame: (message, body) => this.#take(message, body),
      ended: (cause, fault) => {
        this.fault = fault;
        this.#down(cause);
      },
    });
    this.#connection.send({ type: 'prepare', limits });
    this.#timer = later(bounds.hello, () => {
      if (this.state === 'starting') this.#down('slow-start');
    });
    void child.ended.then(() => this.#down('died'));
  }

  /** Invocations at work in it, cancelled ones included. */
  get busy(): number {
    return this.#runs.size + this.#leaving.size;
  }

  /** 0 where it is not known. */
  resident(): Promise<number> {
    return this.#child.resident().catch(() => 0);
  }

  /** Hands over the script, once. Rejects with `invalid-entry`, `timeout` or `crash`. */
  load(script: string, reuse: boolean): Promise<readonly ContractEntry[]> {
    if (this.state !== 'blank') return Promise.reject(new RunFailure('crash'));
    this.state = 'loading';
    this.#loading = waiting();
    this.#timer = later(this.#limits.wall, () => this.#overdue());
    this.#connection.send({ type: 'load', reuse }, script);
    return this.#loading.promise;
  }

  /** Rejects with a RunFailure, at the latest when the `wall` milliseconds that it has left are over. */
  invoke(run: Run, wall = this.#limits.wall): Promise<Answer> {
    if (this.state !== 'ready') return Promise.reject(new RunFailure('crash'));
    const { entry, context, input, signal } = run;
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const since = this.#now();
    const timer = later(Math.max(1, wall), () => this.#leave(id, this.#bounds.health));
    const abort = () => this.#leave(id, Math.max(this.#bounds.health, since + wall - this.#now()));
    signal?.addEventListener('abort', abort, { once: true });
    const running: Running = { run, since, timer, abort, resolve, reject };
    this.#runs.set(id, running);
    let sent: boolean;
    try {
      sent = this.#connection.send({ type: 'invoke', id, entry, context }, input);
    } catch (error) {
      this.#over(id, running);
      throw error;
    }
    if (!sent) {
      this.#over(id, running);
      reject(new RunFailure('busy'));
    }
    return promise;
  }

  /** Milliseconds until it has done what it was asked for before; 0 where it is gone. */
  lag(): Promise<number> {
    const id = ++this.#lastId;
    const since = this.#now();
    return new Promise((resolve) => {
      this.#asked.set(id, () => resolve(this.#now() - since));
      if (this.state !== 'ready' || !this.#connection.send({ type: 'ping', id })) this.#answered(id);
    });
  }

  #answered(id: number): boolean {
    this.#asked.get(id)?.();
    return this.#asked.delete(id);
  }

  /** Ends the process. Resolves when it is gone. */
  async end(): Promise<void> {
    this.#down('asked');
    await this.gone;
  }

  #take(message: FromChild, body: Buffer): void {
    if (message.type === 'result' || message.type === 'failure') this.#result(message, body);
    else if (message.type === 'call') this.#call(message, body);
    else if (message.type === 'pong') this.#answered(message.id) || this.#left(message.id);
    else if (message.type === 'hello') this.#helloed(message.protocol);
    else if (message.type === 'loaded') this.#loaded(message.contract);
    else if (this.state === 'loading') this.#refused(message.code, 'refused');
    else this.#down('protocol');
  }

  #helloed(protocol: number): void {
    if (this.state !== 'starting' || protocol !== PROTOCOL) {
      this.#down('protocol');
      return;
    }
    clearTimeout(this.#timer);
    this.state = 'blank';
    this.#hello.resolve();
  }

  #loaded(contract: readonly ContractEntry[]): void {
    if (this.state !== 'loading') {
      this.#down('protocol');
      return;
    }
    clearTimeout(this.#timer);
    this.state = 'ready';
    this.idleSince = this.#now();
    this.#loading?.resolve(contract);
  }

  #overdue(): void {
    if (this.state === 'loading') this.#refused('timeout', 'stuck');
  }

  #refused(code: 'invalid-entry' | 'timeout', cause: Cause): void {
    this.#loading?.reject(new RunFailure(code));
    this.#down(cause);
  }

  #result(message: FromChild & { type: 'result' | 'failure' }, body: Buffer): void {
    const running = this.#runs.get(message.id);
    if (this.state !== 'ready') this.#down('protocol');
    else if (running) this.#settle(running, message, body);
    else this.#left(message.id);
  }

  #settle(running: Running, message: FromChild & { type: 'result' | 'failure' }, body: Buffer): void {
    const { wall, result } = this.#limits;
    let isExhausted = false;
    this.#over(message.id, running);
    if (message.type === 'failure') {
      running.reject(new RunFailure(message.code));
      // What took its whole time merely waited.
      isExhausted = message.code === 'timeout' && this.#now() - running.since < wall * 0.95;
    } else if (body.length > result) running.reject(new RunFailure('invalid-result'));
    else running.resolve(message.none ? undefined : body);
    this.#settled(isExhausted);
  }

  #call({ id, call, method }: FromChild & { type: 'call' }, body: Buffer): void {
    const run = this.#runs.get(id)?.run;
    if (this.state === 'loading') this.#refuseCall(id, call);
    else if (this.state !== 'ready') this.#down('protocol');
    else if (!run?.call({ method, body, reply: call > 0 ? this.#replyTo(id, call) : undefined }))
      this.#connection.waste();
  }

  #refuseCall(id: number, call: number): void {
    if (++this.#callsWhileLoading > MAX_CALLS_WHILE_LOADING) this.#down('protocol');
    else if (call > 0) this.#connection.send({ type: 'reply', id, call, ok: false }, REFUSED_WHILE_LOADING);
  }

  #replyTo =
    (id: number, call: number) =>
    (ok: boolean, json: string): void => {
      if (this.#runs.has(id)) this.#connection.reply(id, call, ok, json);
    };

  /** Nobody waits for this run any more. Should it hold the process up for longer than `patience`, that is killed. */
  #leave(id: number, patience: number): void {
    const running = this.#runs.get(id);
    if (!running) return;
    this.#over(id, running);
    running.reject(new RunFailure('timeout'));
    const timer = later(patience, () => {
      if (this.#leaving.has(id)) this.#down('stuck');
    });
    this.#leaving.set(id, timer);
    this.#connection.send({ type: 'cancel', id });
    this.#connection.send({ type: 'ping', id });
  }

  #left(id: number): void {
    clearTimeout(this.#leaving.get(id));
    if (this.#leaving.delete(id)) this.#settled(false);
    else this.#connection.waste();
  }

  #over(id: number, { timer, run, abort }: Running): void {
    clearTimeout(timer);
    run.signal?.removeEventListener('abort', abort);
    this.#runs.delete(id);
    this.served++;
  }

  #settled(exhausted: boolean): void {
    if (this.busy === 0) this.idleSince = this.#now();
    this.onSettled?.(exhausted);
  }

  #down(cause: Cause): void {
    if (this.state === 'down') return;
    this.state = 'down';
    clearTimeout(this.#timer);
    this.#child.kill();
    this.#connection.close();
    for (const timer of this.#leaving.values()) clearTimeout(timer);
    this.#leaving.clear();
    for (const id of this.#asked.keys()) this.#answered(id);
    this.#hello.reject(new RunFailure('internal'));
    this.#loading?.reject(new RunFailure('crash'));
    for (const [id, running] of [...this.#runs]) {
      this.#over(id, running);
      running.reject(new RunFailure('crash'));
    }
    this.onDown?.(cause);
  }
}

/** What has arrived in the meantime is looked at first: a busy host must not take a prompt child for a dead one. */
const later = (milliseconds: number, act: () => void): NodeJS.Timeout =>
  setTimeout(() => void setImmediate(act), milliseconds);
