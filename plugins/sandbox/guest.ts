import { randomUUID } from 'node:crypto';
import type { Caller, Log } from '#kernel';
import { RunFailure } from '../../sandbox/host/supervisor/failure.ts';
import type { Answer } from '../../sandbox/host/supervisor/run.ts';
import type { Guest as Process } from '../../sandbox/host/supervisor/supervisor.ts';
import type { GuestContext, Limits } from '../../sandbox/protocol/messages.ts';
import type { Admitted, Invocation } from '../broker/contract.ts';
import { InvocationSecrets } from '../broker/library.ts';
import { openAccount } from './account.ts';
import type { Outcome, Run } from './contract.ts';
import { GuestFailure } from './library.ts';
import { parseGuestJson } from './nesting.ts';
import { guestFailure } from './words.ts';

interface Parts {
  readonly admitted: Admitted;
  readonly process: Process;
  readonly limits: Limits;
  readonly log: Log;
}

/** One run from its input to its outcome; what it asks of the host meanwhile is on its account. */
export async function invoke({ process, limits, log, ...program }: Parts, run: Run): Promise<Outcome> {
  const admitted = run.admitted ?? program.admitted;
  const over = new AbortController();
  const invocation: Invocation = {
    id: randomUUID(),
    caller: run.caller,
    signal: over.signal,
    secrets: new InvocationSecrets(),
  };
  const input = run.prepare?.(invocation) ?? run.input;
  const account = openAccount({ admitted, invocation, hostCall: limits.hostCall, log });
  try {
    const context = contextOf(admitted, run);
    const { entry, signal } = run;
    return outcomeOf(await process.invoke({ entry, context, input, signal, call: account.call }));
  } catch (error) {
    throw asGuestFailure(error, (text) => invocation.secrets.scrub(text));
  } finally {
    account.close();
    over.abort();
  }
}

/** What is not a failure of confined code stays what it is. `scrub` takes secrets out of a text. */
export const asGuestFailure = (error: unknown, scrub = (text: string): string => text): unknown =>
  error instanceof RunFailure ? guestFailure(error, scrub) : error;

const contextOf = ({ subject }: Admitted, { contributionId, activation, caller }: Run): GuestContext => ({
  extensionId: subject.name,
  contributionId,
  activation,
  accountability: caller && accountabilityOf(caller),
});

/** Nobody known is nobody to the handler; what it asks of the host is asked as the Public role all the same. */
const accountabilityOf = ({ user, role, admin }: Caller): GuestContext['accountability'] =>
  user === null && role === null && !admin ? null : { user, role, admin };

function outcomeOf(answer: Answer): Outcome {
  if (answer === undefined) return { text: undefined, value: undefined };
  const text = answer.toString('utf8');
  try {
    return { text, value: parseGuestJson(text) };
  } catch {
    throw new GuestFailure('invalid-result');
  }
}
