import type { RealmInvocation } from './host-calls.ts';
import { apply, CapturedError, freeze, isObject, slice, stringify } from './primordials.ts';

/** Characters of texts that leave the realm. The host truncates again. */
const LONGEST_MESSAGE = 1000;
const LONGEST_STACK = 4000;

const cut = (text: unknown, longest: number): string | undefined =>
  typeof text === 'string' ? apply(slice, text, [0, longest]) : undefined;

/**
 * `context.reject(status, code, message)`: throws an error that ends the invocation with the author's status, code and
 * message. The host validates the three. An author who catches the error cancels the rejection.
 */
export function createContextReject(run: RealmInvocation): unknown {
  return freeze((status: unknown, code: unknown, message: unknown): never => {
    const text = stringify({
      __proto__: null,
      status: typeof status === 'number' ? status : null,
      code: cut(code, LONGEST_MESSAGE) ?? null,
      message: cut(message, LONGEST_MESSAGE) ?? null,
    });
    const error = new CapturedError(cut(message, LONGEST_MESSAGE));
    run.rejection = { error, text };
    throw error;
  });
}

/** Renders a thrown value as a failure message. Runs getters of the guest within the CPU time of its invocation. */
export function renderGuestFailureMessage(run: RealmInvocation, error: unknown): string {
  if (run.rejection !== undefined && run.rejection.error === error)
    return `failure ${run.id} rejected\n${run.rejection.text}`;
  let details = '{}';
  try {
    const message = isObject(error) ? (error as { message?: unknown }).message : `${error as string}`;
    const stack = isObject(error) ? (error as { stack?: unknown }).stack : undefined;
    details = stringify({ __proto__: null, message: cut(message, LONGEST_MESSAGE), stack: cut(stack, LONGEST_STACK) });
  } catch {
    // A getter has thrown, or the value is a symbol: the details stay empty.
  }
  return `failure ${run.id} guest-error\n${details}`;
}
