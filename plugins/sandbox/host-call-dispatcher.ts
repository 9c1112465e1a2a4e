import type { Log } from '#kernel';
import type { HostCall } from '../../sandbox/host/supervisor/invocation.ts';
import type { BrokerRefusalCode, ConfinedCodeInvocation, PackageHandle } from '../broker/contract.ts';
import type { BrokerRefusal } from '../broker/library.ts';
import { parseGuestJson } from './guest-json.ts';
import { createHostCallRunner } from './host-call-runner.ts';

/** Limits of the host calls of one invocation (conventions, "Limits"); times in milliseconds, sizes in bytes. */
export const HOST_CALL_LIMITS = {
  inFlight: 16,
  total: 1000,
  /** Lines of log; more are dropped. */
  logs: 1000,
  time: 5000,
  reply: 4 * 1024 * 1024,
} as const;

export interface HostCallDispatcherOptions {
  readonly brokerAccess: PackageHandle;
  readonly invocation: ConfinedCodeInvocation;
  /** Bytes of the longest arguments of one call. */
  readonly hostCall: number;
  readonly log: Log;
}

/** The host calls of one invocation. Each runs with the grants of its package and in the context of its request. */
export interface HostCallDispatcher {
  /** Carries out a host call; false where the call exceeds a limit. */
  readonly call: (call: HostCall) => boolean;
  /** Ends the invocation: aborts its calls and drops their results. */
  readonly close: () => void;
}

type SendReply = (ok: boolean, json: string) => void;

export function createHostCallDispatcher({
  brokerAccess,
  invocation,
  hostCall,
  log,
}: HostCallDispatcherOptions): HostCallDispatcher {
  const context = createHostCallRunner(brokerAccess, invocation, log);
  const open = new Set<AbortController>();
  let total = 0;
  let logs = 0;
  let isOver = false;

  async function carryOut(method: string, args: readonly unknown[], sendReply: SendReply): Promise<void> {
    const done = new AbortController();
    open.add(done);
    let hasReplied = false;
    const once: SendReply = (ok, json) => {
      if (!hasReplied && !isOver) sendReply(ok, json);
      hasReplied = true;
    };
    const timer = setTimeout(() => {
      once(false, renderRefusal('timeout', 'The call took too long.'));
      done.abort();
    }, HOST_CALL_LIMITS.time);
    try {
      const value = await context.run(method, args, done.signal);
      const longest = Math.min(brokerAccess.maxReply(method) ?? HOST_CALL_LIMITS.reply, HOST_CALL_LIMITS.reply);
      if (!hasReplied && !isOver) once(true, context.toJson(value, longest));
    } catch (error) {
      const { code, message, details } = error as BrokerRefusal;
      once(false, renderRefusal(code, message, details));
    } finally {
      clearTimeout(timer);
      // Removed only now, since a host call that outlasts its time limit still counts as in flight.
      open.delete(done);
    }
  }

  function writeLog(method: string, body: Buffer): boolean {
    if (!method.startsWith('log.') || body.length > hostCall) return false;
    if (++logs > HOST_CALL_LIMITS.logs) {
      if (logs === HOST_CALL_LIMITS.logs + 1) context.warn('further lines of this invocation are dropped');
      return false;
    }
    const args = parseArguments(body);
    if (!args) return false;
    void context.run(method, args, invocation.signal).catch(() => {});
    return true;
  }

  return {
    call({ method, body, reply }) {
      if (isOver) return false;
      if (!reply) return writeLog(method, body);
      const refuse = (code: BrokerRefusalCode, message: string) => reply(false, renderRefusal(code, message));
      if (total >= HOST_CALL_LIMITS.total) {
        refuse('rate_limited', `An invocation has ${HOST_CALL_LIMITS.total} calls.`);
        return false;
      }
      total++;
      const args = body.length > hostCall ? undefined : parseArguments(body);
      if (open.size >= HOST_CALL_LIMITS.inFlight)
        refuse('rate_limited', `At most ${HOST_CALL_LIMITS.inFlight} calls at a time.`);
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

/** Parses the arguments of a host call; undefined where the body is no JSON list. */
function parseArguments(body: Buffer): readonly unknown[] | undefined {
  try {
    const value = parseGuestJson(body.toString('utf8'));
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function renderRefusal(code: BrokerRefusalCode, message: string, details?: unknown): string {
  const plain = JSON.stringify({ code, message: message.slice(0, 1000) });
  if (details === undefined) return plain;
  try {
    const full = JSON.stringify({ code, message: message.slice(0, 1000), details });
    return full.length > MAX_REFUSAL ? plain : full;
  } catch {
    return plain;
  }
}
const MAX_REFUSAL = 64 * 1024;
