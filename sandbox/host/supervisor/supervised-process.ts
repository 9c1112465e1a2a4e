import { type ArtifactExport, type ChildMessage, type GuestLimits, PROTOCOL_VERSION } from '../../protocol/messages.ts';
import { ChildConnection } from '../child-connection.ts';
import type { ChildProcessExit, ConfinedChild } from '../confined-child.ts';
import { type ActiveInvocation, ActiveInvocations } from './active-invocations.ts';
import type { SupervisorBounds } from './bounds.ts';
import { type CpuWatch, enforceCpuLimit } from './cpu-watch.ts';
import { createDeferred, setTimeoutAfterIo } from './deferred.ts';
import type { ProcessEndCause } from './end-cause.ts';
import type { ExecutionSlotHolder } from './execution-slots.ts';
import type { InvocationResult, ScriptInvocation } from './invocation.ts';
import { InvocationFailure } from './invocation-failure.ts';
import { UnansweredPings } from './pings.ts';
import { ScriptLoading } from './script-loading.ts';
import { UnconfirmedCancellations } from './unconfirmed-cancellations.ts';
import { UnconfirmedMessages } from './unconfirmed-messages.ts';

/** A child process, bound to one program after its hello. Its messages can concern its own invocations only. */
export class SupervisedProcess implements ExecutionSlotHolder {
  /** Resolves with the hello of the runner. Rejects with `internal` where the process ends before it. */
  readonly hello: Promise<void>;
  /** Resolves when the process is reaped. */
  readonly exited: Promise<ChildProcessExit>;
  /** Called once, when the process becomes unusable. */
  onDown: ((cause: ProcessEndCause) => void) | undefined;
  /** Called when a reply was sent: an invocation executes again. */
  onResumed: (() => void) | undefined;
  /** Called when the process answers a ping. */
  onPong: (() => void) | undefined;
  /** Called when an invocation, also a cancelled one, has ended. `exhausted`: it had used up its CPU time. */
  onSettled: ((exhausted: boolean) => void) | undefined;
  /** Set for a helper process, which its program can do without: called when another program needs the room. */
  onSlotNeeded: (() => void) | undefined;
  /** Called when the process must make room for another program: it gets no more invocations. */
  onRetired: (() => void) | undefined;
  /** True for a process that gets no more invocations and ends once idle. */
  isRetiring = false;
  state: 'starting' | 'blank' | 'loading' | 'ready' | 'down' = 'starting';
  served = 0;
  /** Time since which the process has had no invocation. */
  idleSince: number;
  /** Time since which the process serves its program. */
  readySince = 0;
  /** The error of the frame for which the process was ended. */
  fault: unknown;
  /** Resident bytes after loading; 0 while unknown. */
  baseline = 0;

  readonly #child: ConfinedChild;
  readonly #limits: GuestLimits;
  readonly #connection: ChildConnection;
  readonly #bounds: SupervisorBounds;
  readonly #now: () => number;
  readonly #progress: UnconfirmedMessages;
  readonly #hello = createDeferred<void>();
  readonly #pings: UnansweredPings;
  readonly #cpu: CpuWatch;
  #loading: ScriptLoading | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastId = 0;
  #isPinged = false;
  readonly #runs: ActiveInvocations;
  readonly #abandoned = new UnconfirmedCancellations();

  constructor(child: ConfinedChild, bounds: SupervisorBounds, limits: GuestLimits, now: () => number) {
    this.#child = child;
    this.#limits = limits;
    this.#bounds = bounds;
    this.#now = now;
    this.#progress = new UnconfirmedMessages(now);
    this.#runs = new ActiveInvocations(now);
    this.#cpu = enforceCpuLimit(this, child, limits, bounds, now);
    this.#pings = new UnansweredPings((id) => this.state === 'ready' && this.#connection.send({ type: 'ping', id }));
    this.idleSince = now();
    this.hello = this.#hello.promise;
    this.exited = child.ended;
    this.#connection = new ChildConnection(child.channel, limits, {
      frame: (message, body) => this.#receive(message, body),
      ended: (cause, fault) => {
        this.fault = fault;
        this.#down(cause);
      },
    });
    this.#connection.send({ type: 'prepare', limits });
    this.#timer = setTimeoutAfterIo(bounds.helloTimeout, () => {
      if (this.state === 'starting') this.#down('slow-start');
    });
    void child.ended.then(() => this.#down('died'));
  }

  /** Invocations in flight, including cancelled ones whose end is unconfirmed. */
  get busy(): number {
    return this.#runs.count + this.#abandoned.count;
  }

  /** True while no invocation is known to execute. */
  get isWaiting(): boolean {
    return this.busy === 0 || this.#progress.isWaiting;
  }

  /** True while the process must confirm invocations before it gets more. */
  get isFull(): boolean {
    return this.#progress.isFull;
  }

  resident(): Promise<number> {
    return this.#child.resident().catch(() => 0);
  }

  /** Loads the script, once. Rejects with `invalid-entry`, `timeout` or `crash`. */
  load(script: string, reuse: boolean): Promise<readonly ArtifactExport[]> {
    if (this.state !== 'blank') return Promise.reject(new InvocationFailure('crash'));
    this.state = 'loading';
    this.#loading = new ScriptLoading();
    this.#cpu.recordInvocation(1);
    this.#timer = setTimeoutAfterIo(this.#limits.wall, () => {
      if (this.state === 'loading') this.#failLoading('timeout', 'stuck');
    });
    this.#connection.send({ type: 'load', reuse }, script);
    return this.#loading.contract;
  }

  /** Sends an invocation. Rejects with an InvocationFailure, at the latest after the remaining `wall` milliseconds. */
  invoke(run: ScriptInvocation, wall = this.#limits.wall): Promise<InvocationResult> {
    if (this.state !== 'ready') return Promise.reject(new InvocationFailure('crash'));
    const { entry, context, input } = run;
    const id = ++this.#lastId;
    const answer = this.#runs.add(id, run, wall, (left) =>
      this.#abandon(id, Math.max(this.#bounds.healthTimeout, left)),
    );
    this.#progress.recordInvocation(id);
    this.#cpu.recordInvocation(this.busy);
    let isSent: boolean;
    try {
      isSent = this.#connection.send({ type: 'invoke', id, entry, context }, input);
    } catch (error) {
      this.#finishRun(id);
      throw error;
    }
    if (!isSent) this.#finishRun(id)?.reject(new InvocationFailure('busy'));
    return answer;
  }

  /** Milliseconds until the process has handled earlier messages; 0 where it has ended. */
  lag(): Promise<number> {
    const id = ++this.#lastId;
    const since = this.#now();
    return new Promise((resolve) => this.#pings.send(id, () => resolve(this.#now() - since)));
  }

  ping(): void {
    if (this.#isPinged || this.state !== 'ready') return;
    this.#isPinged = true;
    const id = ++this.#lastId;
    this.#pings.send(id, (isAnswered) => {
      this.#isPinged = false;
      if (!isAnswered) return;
      this.#progress.confirm(id);
      this.onPong?.();
    });
  }

  /** Ends the process. Resolves when it is reaped. */
  async end(): Promise<void> {
    this.#down('requested');
    await this.exited;
  }

  /** Kills the process because it has broken a limit. */
  kill(cause: ProcessEndCause): void {
    if (this.state === 'loading') this.#failLoading('timeout', cause);
    else this.#down(cause);
  }

  #receive(message: ChildMessage, body: Buffer): void {
    this.#cpu.recordMessage(this.busy);
    if (message.type === 'result' || message.type === 'failure') this.#result(message, body);
    else if (message.type === 'call') this.#call(message, body);
    else if (message.type === 'pong') this.#pings.answer(message.id) || this.#confirmAbandoned(message.id);
    else if (message.type === 'hello') this.#onHello(message.protocol);
    else if (message.type === 'loaded') this.#onLoaded(message.contract);
    else if (this.state === 'loading') this.#failLoading(message.code, 'refused');
    else this.#down('protocol');
  }

  #onHello(protocol: number): void {
    if (this.state !== 'starting' || protocol !== PROTOCOL_VERSION) {
      this.#down('protocol');
      return;
    }
    clearTimeout(this.#timer);
    this.state = 'blank';
    this.#hello.resolve();
  }

  #onLoaded(contract: readonly ArtifactExport[]): void {
    if (this.state !== 'loading') {
      this.#down('protocol');
      return;
    }
    clearTimeout(this.#timer);
    this.state = 'ready';
    this.idleSince = this.#now();
    this.readySince = this.idleSince;
    this.#loading?.finish(contract);
  }

  #failLoading(code: 'invalid-entry' | 'timeout', cause: ProcessEndCause): void {
    this.#loading?.fail(new InvocationFailure(code));
    this.#down(cause);
  }

  #result(message: ChildMessage & { type: 'result' | 'failure' }, body: Buffer): void {
    const active = this.state === 'ready' ? this.#finishRun(message.id) : undefined;
    if (this.state !== 'ready') this.#down('protocol');
    else if (active) this.#settle(active, message, body);
    else this.#confirmAbandoned(message.id);
  }

  #settle(active: ActiveInvocation, message: ChildMessage & { type: 'result' | 'failure' }, body: Buffer): void {
    const { wall, result } = this.#limits;
    // An invocation that took its whole wall-clock time merely waited.
    const isExhausted =
      message.type === 'failure' && message.code === 'timeout' && this.#now() - active.since < wall * 0.95;
    if (message.type === 'failure')
      active.reject(new InvocationFailure(message.code === 'timeout' ? 'cpu-limit' : message.code, body));
    else if (body.length > result) active.reject(new InvocationFailure('result-too-large'));
    else active.resolve(message.none ? undefined : body);
    this.#onRunSettled(isExhausted);
  }

  #call({ id, call, method }: ChildMessage & { type: 'call' }, body: Buffer): void {
    const run = this.#runs.get(id)?.run;
    if (this.state === 'loading') this.#refuseCall(id, call);
    else if (this.state !== 'ready') this.#down('protocol');
    else if (!run?.call({ method, body, reply: call > 0 ? this.#replyTo(id, call) : undefined }))
      this.#connection.recordUselessFrame();
  }

  #refuseCall(id: number, call: number): void {
    const reply = (json: string) => call > 0 && this.#connection.send({ type: 'reply', id, call, ok: false }, json);
    if (!this.#loading?.refuse(reply)) this.#down('protocol');
  }

  #replyTo =
    (id: number, call: number) =>
    (ok: boolean, json: string): void => {
      if (!this.#runs.get(id)) return;
      this.#connection.reply(id, call, ok, json);
      this.#progress.recordReply(++this.#lastId);
      this.onResumed?.();
    };

  /** Cancels an invocation and kills the process unless it confirms that within `timeout` milliseconds. */
  #abandon(id: number, timeout: number): void {
    const active = this.#finishRun(id);
    if (!active) return;
    active.reject(new InvocationFailure('timeout'));
    this.#abandoned.add(id, timeout, () => this.#down('stuck'));
    this.#connection.send({ type: 'cancel', id });
    this.#connection.send({ type: 'ping', id, isolate: true });
  }

  #confirmAbandoned(id: number): void {
    if (this.#abandoned.remove(id)) this.#onRunSettled(false);
    else this.#connection.recordUselessFrame();
  }

  #finishRun(id: number): ActiveInvocation | undefined {
    const active = this.#runs.remove(id);
    if (!active) return undefined;
    this.#progress.finish(id);
    this.served++;
    return active;
  }

  #onRunSettled(exhausted: boolean): void {
    if (this.busy === 0) this.idleSince = this.#now();
    this.onSettled?.(exhausted);
  }

  #down(cause: ProcessEndCause): void {
    if (this.state === 'down') return;
    this.state = 'down';
    clearTimeout(this.#timer);
    this.#child.kill();
    this.#connection.close();
    this.#abandoned.clear();
    this.#pings.close();
    this.#hello.reject(new InvocationFailure('internal'));
    this.#loading?.fail(new InvocationFailure('crash'));
    this.#cpu.stop();
    const culprit = cause === 'cpu' ? (this.#progress.executing ?? 'unknown') : 'none';
    for (const id of this.#runs.ids) {
      const isCause = culprit === 'unknown' || culprit === id;
      this.#finishRun(id)?.reject(new InvocationFailure(isCause ? 'cpu-limit' : 'crash'));
    }
    this.onDown?.(cause);
  }
}
