import type { RunFailure } from '../../sandbox/host/supervisor/failure.ts';
import { ARTIFACT } from '../../sandbox/protocol/messages.ts';
import { GuestFailure, type Rejection, type Thrown } from './library.ts';
import { parseGuestJson } from './nesting.ts';

/** Bytes of what a child tells with a failure; what is longer is not read. */
const LONGEST_BODY = 32 * 1024;
const LONGEST_MESSAGE = 500;
const POSITION = new RegExp(`\\b${ARTIFACT}:(\\d{1,7}):(\\d{1,8})\\b`);
/** Control characters, among them all that ends a line or changes the direction of a text. */
const CONTROL = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu;

/**
 * The failure with the author's own words: on one line, of bounded length, without the secrets of the invocation. The
 * child may say anything; what is out of shape is left out, and a rejection out of shape is a `guest-error`.
 */
export function guestFailure({ code, body }: RunFailure, scrub: (text: string) => string): GuestFailure {
  const clean = (text: string): string => {
    const line = scrub(text).replace(CONTROL, ' ').trim();
    return line.length > LONGEST_MESSAGE
      ? `${line.slice(0, LONGEST_MESSAGE - 1).toWellFormed()}…`
      : line.toWellFormed();
  };
  if (code !== 'rejected' && code !== 'guest-error') return new GuestFailure(code);
  const words = wordsIn(body);
  if (code === 'rejected') {
    const rejection = rejectionIn(words, clean);
    return rejection ? new GuestFailure(code, { rejection }) : new GuestFailure('guest-error', { thrown: UNCLEAR });
  }
  const thrown = thrownIn(words, clean);
  return new GuestFailure(code, thrown ? { thrown } : {});
}

const UNCLEAR: Thrown = { message: 'reject was called without a status, a code or a message.' };

function wordsIn(body: Buffer | undefined): Readonly<Record<string, unknown>> {
  if (!body || body.length === 0 || body.length > LONGEST_BODY) return {};
  try {
    const words = parseGuestJson(body.toString('utf8'));
    return typeof words === 'object' && words !== null ? (words as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function rejectionIn(words: Readonly<Record<string, unknown>>, clean: (text: string) => string): Rejection | undefined {
  const { status, code, message } = words;
  if (typeof status !== 'number' || typeof code !== 'string' || typeof message !== 'string') return undefined;
  return { status, code, message: clean(message) };
}

function thrownIn(words: Readonly<Record<string, unknown>>, clean: (text: string) => string): Thrown | undefined {
  const { message, stack } = words;
  if (typeof message !== 'string') return undefined;
  const [, line, column] = (typeof stack === 'string' && POSITION.exec(stack)) || [];
  return { message: clean(message), ...(line && column ? { at: { line: Number(line), column: Number(column) } } : {}) };
}
