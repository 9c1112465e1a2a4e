import type { Log } from '#kernel';
import type { GuestCall } from '../../sandbox/host/supervisor/run.ts';
import type { Admitted, Invocation, RefusalCode } from '../broker/contract.ts';
import type { Refusal } from '../broker/library.ts';
import { createCallContext } from './call-context.ts';
import { parseGuestJson } from './nesting.ts';

/** Bounds of what one invocation may ask (conventions, "Limits"); times in milliseconds, sizes in bytes. */
export const CALLS = {
  inFlight: 16,
  total: 1000,
  /** Lines of log; more are dropped. */
  logs: 1000,
  time: 5000,
  reply: 4 * 1024 * 1024,
} as const;

export interface AccountOptions {
  readonly admitted: Admitted;
  readonly invocation: Invocation;
  /** Bytes of the arguments of one call. */
  readonly hostCall: number;
  readonly log: Log;
}

/** What one invocation asks of the host, each call as the package it belongs to and in the context of its request. */
export interface Account {
  /** False when it was beyond the bounds. */
  readonly call: (call: GuestCall) => boolean;
  /** The invocation is over: work for it should end, and nobody hears of its results. */
  readonly close: () => void;
}

type Say = (ok: boolean, json: string) => void;

export function openAccount({ admitted, invocation, hostCall, log }: AccountOptions): Account {
  const context = createCallContext(admitted, invocation, log);
  const open = new Set<AbortController>();
  let total = 0;
  let logs = 0;
  let isOver = false;

  async function carryOut(method: string, args: readonly unknown[], say: Say): Promise<void> {
    const done = new AbortController();
    open.add(done);
    let hasSaid = false;
    const once: Say = (ok, json) => {
      if (!hasSaid && !isOver) say(ok, json);
      hasSaid = true;
    };
    const timer = setTimeout(() => {
      once(false, refusal('timeout', 'The call took too long.'));
      done.abort();
    }, CALLS.time);
    try {
      const value = await context.run(method, args, done.signal);
      const longest = Math.min(admitted.maxReply(method) ?? CALLS.reply, CALLS.reply);
      if (!hasSaid && !isOver) once(true, context.jsonOf(value, longest));
    } catch (error) {
      const { code, message, details } = error as Refusal;
      once(false, refusal(code, message, details));
    } finally {
      clearTimeout(timer);
      // Only now: work that goes on after its time counts among those in flight.
      open.delete(done);
    }
  }

  function note(method: string, body: Buffer): boolean {
    if (!method.startsWith('log.') || body.length > hostCall) return false;
    if (++logs > CALLS.logs) {
      if (logs === CALLS.logs + 1) context.warn('further lines of this invocation are dropped');
      return false;
    }
    const args = listOf(body);
    if (!args) return false;
    void context.run(method, args, invocation.signal).catch(() => {});
    return true;
  }

  return {
    call({ method, body, reply }) {
      if (isOver) return false;
      if (!reply) return note(method, body);
      const refuse = (code: RefusalCode, message: string) => reply(false, refusal(code, message));
      if (total >= CALLS.total) {
        refuse('rate_limited', `An invocation has ${CALLS.total} calls.`);
        return false;
      }
      total++;
      const args = body.length > hostCall ? undefined : listOf(body);
      if (open.size >= CALLS.inFlight) refuse('rate_limited', `At most ${CALLS.inFlight} calls at a time.`);
      else if (body.length > hostCall) refuse('invalid_request', 'The arguments are too large.');
      else if (!args) refuse('invalid_request', 'The arguments are not a list.');
      else void carryOut(method, args, reply);
      return true;
    },
    close() {
      isOver = true;
      for (const done of open) done.abort();
    },
  };
}

/** Undefined for what is no list. */
function listOf(body: Buffer): readonly unknown[] | undefined {
  try {
    const value = parseGuestJson(body.toString('utf8'));
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function refusal(code: RefusalCode, message: string, details?: unknown): string {
  const plain = JSON.stringify({ code, message: message.slice(0, 1000) });
  if (details === undefined) return plain;
  try {
    const full = JSON.stringify({ code, message: message.slice(0, 1000), details });
    return full.length > MAX_DETAILS ? plain : full;
  } catch {
    return plain;
  }
}
const MAX_DETAILS = 64 * 1024;
