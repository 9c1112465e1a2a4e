import { randomUUID } from 'node:crypto';
import type { Caller, Log } from '#kernel';
import type { InvocationResult } from '../../sandbox/host/supervisor/invocation.ts';
import { InvocationFailure } from '../../sandbox/host/supervisor/invocation-failure.ts';
import type { SupervisedProgram as Process } from '../../sandbox/host/supervisor/supervisor.ts';
import type { GuestLimits, HandlerContextData } from '../../sandbox/protocol/messages.ts';
import type { ConfinedCodeInvocation, PackageHandle } from '../broker/contract.ts';
import { InvocationSecrets } from '../broker/library.ts';
import type { ConfinedHandlerResult, InvocationRequest } from './contract.ts';
import { createGuestFailure } from './create-guest-failure.ts';
import { parseGuestJson } from './guest-json.ts';
import { createHostCallDispatcher } from './host-call-dispatcher.ts';
import { GuestFailure } from './library.ts';

interface InvokeOptions {
  readonly brokerAccess: PackageHandle;
  readonly process: Process;
  readonly limits: GuestLimits;
  readonly log: Log;
}

/** Runs one invocation of confined code. `createHostCallDispatcher` counts and carries out its host calls. */
export async function invokeGuest(
  { process, limits, log, ...program }: InvokeOptions,
  run: InvocationRequest,
): Promise<ConfinedHandlerResult> {
  const brokerAccess = run.brokerAccess ?? program.brokerAccess;
  const over = new AbortController();
  const invocation: ConfinedCodeInvocation = {
    id: randomUUID(),
    caller: run.caller,
    signal: over.signal,
    secrets: new InvocationSecrets(),
  };
  const input = run.prepare?.(invocation) ?? run.input;
  const calls = createHostCallDispatcher({ brokerAccess, invocation, hostCall: limits.hostCall, log });
  try {
    const context = buildContext(brokerAccess, run);
    const { entry, signal } = run;
    return parseResult(await process.invoke({ entry, context, input, signal, call: calls.call }));
  } catch (error) {
    throw toGuestFailure(error, (text) => invocation.secrets.scrub(text));
  } finally {
    calls.close();
    over.abort();
  }
}

/** Converts a failure of confined code; other errors stay as they are. `scrub` removes secrets from a text. */
export const toGuestFailure = (error: unknown, scrub = (text: string): string => text): unknown =>
  error instanceof InvocationFailure ? createGuestFailure(error, scrub) : error;

const buildContext = (
  { holder }: PackageHandle,
  { contributionId, activation, caller }: InvocationRequest,
): HandlerContextData => ({
  extensionId: holder.name,
  contributionId,
  activation,
  accountability: caller && toAccountability(caller),
});

/**
 * The accountability for the handler: null for a caller without user and role. Host calls of such a caller still use
 * the Public role.
 */
const toAccountability = ({ user, role, admin }: Caller): HandlerContextData['accountability'] =>
  user === null && role === null && !admin ? null : { user, role, admin };

function parseResult(answer: InvocationResult): ConfinedHandlerResult {
  if (answer === undefined) return { text: undefined, value: undefined };
  const text = answer.toString('utf8');
  try {
    return { text, value: parseGuestJson(text) };
  } catch {
    throw new GuestFailure('invalid-result');
  }
}
