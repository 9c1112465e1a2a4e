import type { ChildFailure, FromChild, GuestContext, Limits } from '../protocol/messages.ts';
import type { Room } from './isolate.ts';
import { OP } from './ops.ts';
import { read } from './said.ts';
import { makeShared, makeSpares, type Spares } from './spares.ts';

interface Invocation {
  readonly id: number;
  readonly room: Room;
  readonly timers: Map<string, NodeJS.Timeout>;
  /** Milliseconds of CPU. */
  left: number;
}

/** A loaded artifact: takes what the host asks of it, and says what comes of that. */
export interface Program {
  /** `told`: `{ entry, context }` as JSON; `input`: JSON. */
  invoke(id: number, told: string, input: string): void;
  reply(id: number, call: number, ok: boolean, text: string): void;
  cancel(id: number): void;
}

export interface ProgramOptions {
  readonly limits: Limits;
  /** One room serves all invocations, also at the same time; else each has a room nobody was in before. */
  readonly reuse: boolean;
  /** The room the contract was read in. */
  readonly first: Room;
  makeRoom(): Room;
  send(message: FromChild, body?: Buffer | string): void;
}

export const told = (entry: string, context: GuestContext): string => JSON.stringify({ entry, context });

/** What the guest's realm posts as a failure. */
const FAILURES: Readonly<Record<string, ChildFailure>> = {
  'invalid-result': 'invalid-result',
  'result-too-large': 'result-too-large',
  rejected: 'rejected',
};

const TOO_LONG = JSON.stringify({ code: 'invalid_request', message: 'the arguments are too long' });

export const makeProgram = (options: ProgramOptions): Program => new GuestProgram(options);

/** A room whose guest had to be interrupted serves nobody any more; with `reuse`, those inside fail together. */
class GuestProgram implements Program {
  readonly #limits: Limits;
  readonly #reuse: boolean;
  readonly #send: ProgramOptions['send'];
  readonly #shared: ReturnType<typeof makeShared> | undefined;
  readonly #rooms: Spares;
  readonly #invocations = new Map<number, Invocation>();

  constructor({ limits, reuse, first, makeRoom, send }: ProgramOptions) {
    this.#limits = limits;
    this.#reuse = reuse;
    this.#send = send;
    this.#shared = reuse ? makeShared(first, makeRoom) : undefined;
    this.#rooms = this.#shared ?? makeSpares(first, makeRoom);
    this.#rooms.refill();
  }

  invoke(id: number, told: string, input: string): void {
    const room = this.#rooms.take();
    const invocation: Invocation = { id, room, timers: new Map(), left: this.#limits.cpu };
    if (room.state !== 'ready') {
      this.#shared?.drop();
      this.#fail(invocation, room.state === 'timeout' ? 'timeout' : 'guest-error');
      room.leave();
      return;
    }
    this.#invocations.set(id, invocation);
    this.#enter(invocation, OP.invoke, 0, told, input);
  }

  reply(id: number, call: number, ok: boolean, text: string): void {
    const invocation = this.#invocations.get(id);
    if (invocation) this.#enter(invocation, OP.reply, call, text, ok ? 1 : 0);
  }

  cancel(id: number): void {
    const invocation = this.#invocations.get(id);
    if (!invocation) return;
    this.#finish(invocation);
    // Others live in a shared room, so the guest's half is taken down by itself; it runs no code of the guest.
    if (this.#reuse) invocation.room.enter(OP.end, id, 0, '', 0, this.#limits.cpu);
  }

  /** Enters the guest for an invocation and passes on what it says then. */
  #enter(invocation: Invocation, op: number, key: number, text: string, more: string | number): void {
    const { id, room } = invocation;
    const { used, late } = room.enter(op, id, key, text, more, invocation.left);
    invocation.left -= used;
    if (late || invocation.left <= 0) this.#abandon(room);
    else this.#listen(invocation);
  }

  #listen(entered: Invocation): void {
    for (let text = entered.room.fetch(); text !== undefined; ) {
      const { words, body, more } = read(text);
      this.#hear(entered, words, body);
      text = more ? entered.room.fetch() : undefined;
    }
  }

  #hear(entered: Invocation, [kind, id, ...rest]: readonly string[], body: string): void {
    // What the evaluation of the artifact started has no owner, and becomes the first one's.
    const invocation = id === '0' ? entered : this.#invocations.get(Number(id));
    if (!invocation) return;
    switch (kind) {
      case 'result':
        this.#answer(invocation, body);
        break;
      case 'none':
        this.#finish(invocation);
        this.#send({ type: 'result', id: invocation.id, none: true });
        break;
      case 'failure':
        this.#fail(invocation, FAILURES[rest[0] ?? ''] ?? 'guest-error', body);
        break;
      case 'call':
        this.#forward(invocation, Number(rest[0]), rest[1] ?? '', body);
        break;
      case 'start':
        this.#start(invocation, rest[0] ?? '', Number(rest[1]), rest[2] === '1');
        break;
      case 'stop':
        this.#stop(invocation, rest[0] ?? '');
        break;
    }
  }

  #answer(invocation: Invocation, text: string): void {
    this.#finish(invocation);
    const body = Buffer.from(text, 'utf8');
    if (body.length > this.#limits.result) this.#send({ type: 'failure', id: invocation.id, code: 'result-too-large' });
    else this.#send({ type: 'result', id: invocation.id }, body);
  }

  #forward(invocation: Invocation, call: number, method: string, text: string): void {
    const { id } = invocation;
    const body = Buffer.from(text, 'utf8');
    if (body.length <= this.#limits.hostCall) this.#send({ type: 'call', id, call, method }, body);
    else if (call > 0) setImmediate(() => this.reply(id, call, false, TOO_LONG));
  }

  #start(invocation: Invocation, key: string, wait: number, repeat: boolean): void {
    const fire = (): void => {
      if (!repeat) invocation.timers.delete(key);
      if (this.#invocations.has(invocation.id)) this.#enter(invocation, OP.fire, Number(key), '', 0);
    };
    invocation.timers.set(key, repeat ? setInterval(fire, wait) : setTimeout(fire, wait));
  }

  #stop(invocation: Invocation, key: string): void {
    clearTimeout(invocation.timers.get(key));
    invocation.timers.delete(key);
  }

  /** It is over: nothing of it is left but, with `reuse`, what it has written into the room. */
  #finish(invocation: Invocation): void {
    this.#invocations.delete(invocation.id);
    for (const timer of invocation.timers.values()) clearTimeout(timer);
    invocation.timers.clear();
    if (this.#reuse) return;
    invocation.room.leave();
    this.#rooms.refill();
  }

  #fail(invocation: Invocation, code: ChildFailure, body = ''): void {
    this.#finish(invocation);
    this.#send({ type: 'failure', id: invocation.id, code }, body);
  }

  #abandon(room: Room): void {
    this.#shared?.drop();
    for (const invocation of this.#invocations.values()) {
      if (invocation.room !== room) continue;
      this.#fail(invocation, 'timeout');
    }
    room.leave();
  }
}
