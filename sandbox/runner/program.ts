import type { FromChild, GuestContext, Limits } from '../protocol/messages.ts';
import type { Room } from './isolate.ts';
import { OP } from './ops.ts';
import { read } from './said.ts';
import { makeShared, makeSpares } from './spares.ts';

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

const TOO_LONG = JSON.stringify({ code: 'invalid_request', message: 'the arguments are too long' });

/** A room whose guest had to be interrupted serves nobody any more; with `reuse`, those inside fail together. */
export function makeProgram({ limits, reuse, first, makeRoom, send }: ProgramOptions): Program {
  const shared = reuse ? makeShared(first, makeRoom) : undefined;
  const rooms = shared ?? makeSpares(first, makeRoom);
  const invocations = new Map<number, Invocation>();
  rooms.refill();

  /** Enters the guest for an invocation and passes on what it says then. */
  function enter(invocation: Invocation, op: number, key: number, text: string, more: string | number): void {
    const { id, room } = invocation;
    const { used, late } = room.enter(op, id, key, text, more, invocation.left);
    invocation.left -= used;
    if (late || invocation.left <= 0) abandon(room);
    else listen(invocation);
  }

  function listen(entered: Invocation): void {
    for (let text = entered.room.fetch(); text !== undefined; ) {
      const { words, body, more } = read(text);
      hear(entered, words, body);
      text = more ? entered.room.fetch() : undefined;
    }
  }

  function hear(entered: Invocation, [kind, id, ...rest]: readonly string[], body: string): void {
    // What the evaluation of the artifact started has no owner, and becomes the first one's.
    const invocation = id === '0' ? entered : invocations.get(Number(id));
    if (!invocation) return;
    switch (kind) {
      case 'result':
        answer(invocation, body);
        break;
      case 'none':
        finish(invocation);
        send({ type: 'result', id: invocation.id, none: true });
        break;
      case 'failure':
        fail(invocation, rest[0] === 'invalid-result' ? 'invalid-result' : 'guest-error');
        break;
      case 'call':
        forward(invocation, Number(rest[0]), rest[1] ?? '', body);
        break;
      case 'start':
        start(invocation, rest[0] ?? '', Number(rest[1]), rest[2] === '1');
        break;
      case 'stop':
        stop(invocation, rest[0] ?? '');
        break;
    }
  }

  function answer(invocation: Invocation, text: string): void {
    finish(invocation);
    const body = Buffer.from(text, 'utf8');
    if (body.length > limits.result) send({ type: 'failure', id: invocation.id, code: 'invalid-result' });
    else send({ type: 'result', id: invocation.id }, body);
  }

  function forward(invocation: Invocation, call: number, method: string, text: string): void {
    const { id } = invocation;
    const body = Buffer.from(text, 'utf8');
    if (body.length <= limits.hostCall) send({ type: 'call', id, call, method }, body);
    else if (call > 0) setImmediate(() => program.reply(id, call, false, TOO_LONG));
  }

  function start(invocation: Invocation, key: string, wait: number, repeat: boolean): void {
    const fire = (): void => {
      if (!repeat) invocation.timers.delete(key);
      if (invocations.has(invocation.id)) enter(invocation, OP.fire, Number(key), '', 0);
    };
    invocation.timers.set(key, repeat ? setInterval(fire, wait) : setTimeout(fire, wait));
  }

  function stop(invocation: Invocation, key: string): void {
    clearTimeout(invocation.timers.get(key));
    invocation.timers.delete(key);
  }

  /** It is over: nothing of it is left but, with `reuse`, what it has written into the room. */
  function finish(invocation: Invocation): void {
    invocations.delete(invocation.id);
    for (const timer of invocation.timers.values()) clearTimeout(timer);
    invocation.timers.clear();
    if (reuse) return;
    invocation.room.leave();
    rooms.refill();
  }

  function fail(invocation: Invocation, code: 'timeout' | 'guest-error' | 'invalid-result'): void {
    finish(invocation);
    send({ type: 'failure', id: invocation.id, code });
  }

  function abandon(room: Room): void {
    shared?.drop();
    for (const invocation of invocations.values()) {
      if (invocation.room !== room) continue;
      fail(invocation, 'timeout');
    }
    room.leave();
  }

  const program: Program = {
    invoke(id, told, input) {
      const room = rooms.take();
      const invocation: Invocation = { id, room, timers: new Map(), left: limits.cpu };
      if (room.state !== 'ready') {
        shared?.drop();
        fail(invocation, room.state === 'timeout' ? 'timeout' : 'guest-error');
        room.leave();
        return;
      }
      invocations.set(id, invocation);
      enter(invocation, OP.invoke, 0, told, input);
    },
    reply(id, call, ok, text) {
      const invocation = invocations.get(id);
      if (invocation) enter(invocation, OP.reply, call, text, ok ? 1 : 0);
    },
    cancel(id) {
      const invocation = invocations.get(id);
      if (!invocation) return;
      finish(invocation);
      // Others live in a shared room, so the guest's half is taken down by itself; it runs no code of the guest.
      if (reuse) invocation.room.enter(OP.end, id, 0, '', 0, limits.cpu);
    },
  };
  return program;
}
