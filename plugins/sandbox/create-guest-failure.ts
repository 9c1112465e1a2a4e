import type { InvocationFailure } from '../../sandbox/host/supervisor/invocation-failure.ts';
import { ARTIFACT_NAME_IN_STACK_TRACES } from '../../sandbox/protocol/messages.ts';
import { parseGuestJson } from './guest-json.ts';
import { GuestFailure, type HandlerRejection, type ThrownHandlerError } from './library.ts';

/** Bytes of the body of a failure that a child process reports. Longer bodies are ignored. */
const MAX_BODY = 32 * 1024;
const MAX_MESSAGE_LENGTH = 500;
const POSITION = new RegExp(`\\b${ARTIFACT_NAME_IN_STACK_TRACES}:(\\d{1,7}):(\\d{1,8})\\b`);
/** Control characters, including line ends and direction marks. */
const CONTROL = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu;

/**
 * Creates the failure of an invocation with the texts that the extension wrote: on one line, of bounded length, without the
 * secrets of the invocation. The child is not trusted: malformed parts are left out, and a malformed rejection is a
 * `guest-error`.
 */
export function createGuestFailure({ code, body }: InvocationFailure, scrub: (text: string) => string): GuestFailure {
  const clean = (text: string): string => {
    const line = scrub(text).replace(CONTROL, ' ').trim();
    return line.length > MAX_MESSAGE_LENGTH
      ? `${line.slice(0, MAX_MESSAGE_LENGTH - 1).toWellFormed()}…`
      : line.toWellFormed();
  };
  if (code !== 'rejected' && code !== 'guest-error') return new GuestFailure(code);
  const words = parseBody(body);
  if (code === 'rejected') {
    const rejection = parseRejection(words, clean);
    return rejection
      ? new GuestFailure(code, { rejection })
      : new GuestFailure('guest-error', { thrown: MALFORMED_REJECTION });
  }
  const thrown = parseThrown(words, clean);
  return new GuestFailure(code, thrown ? { thrown } : {});
}

const MALFORMED_REJECTION: ThrownHandlerError = { message: 'reject was called without a status, a code or a message.' };

function parseBody(body: Buffer | undefined): Readonly<Record<string, unknown>> {
  if (!body || body.length === 0 || body.length > MAX_BODY) return {};
  try {
    const words = parseGuestJson(body.toString('utf8'));
    return typeof words === 'object' && words !== null ? (words as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function parseRejection(
  words: Readonly<Record<string, unknown>>,
  clean: (text: string) => string,
): HandlerRejection | undefined {
  const { status, code, message } = words;
  if (typeof status !== 'number' || typeof code !== 'string' || typeof message !== 'string') return undefined;
  return { status, code, message: clean(message) };
}

function parseThrown(
  words: Readonly<Record<string, unknown>>,
  clean: (text: string) => string,
): ThrownHandlerError | undefined {
  const { message, stack } = words;
  if (typeof message !== 'string') return undefined;
  const [, line, column] = (typeof stack === 'string' && POSITION.exec(stack)) || [];
  return { message: clean(message), ...(line && column ? { at: { line: Number(line), column: Number(column) } } : {}) };
}
