import { createContext, Script } from 'node:vm';

/** Milliseconds that one match of a regular expression may take; some patterns would take years for a text of 40 characters. */
const DEADLINE = 100;

/**
 * `node:vm` limits the time of scripts only, so each match runs as a script in a context of its own, which is created on first
 * use.
 */
const TEST = new Script('pattern.test(text)');
let context: { pattern?: RegExp | undefined; text?: string } | undefined;

/**
 * Parses a regular expression that is written with or without enclosing slashes.
 * @throws SyntaxError
 */
export function parseRegularExpression(source: string): RegExp {
  const wrapped = /^\/(.*)\/([dimsu]*)$/s.exec(source);
  return new RegExp(wrapped?.[1] ?? source, wrapped?.[2] ?? '');
}

/** Whether the pattern matches; `timeout` when the match takes longer than 100 ms. */
export function matchRegularExpressionWithTimeout(pattern: RegExp, text: string): boolean | 'timeout' {
  context ??= createContext({}) as NonNullable<typeof context>;
  try {
    Object.assign(context, { pattern, text });
    return TEST.runInContext(context, { timeout: DEADLINE }) === true;
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return 'timeout';
    throw error;
  } finally {
    // The text may be a password, so the context must not keep it.
    Object.assign(context, { pattern: undefined, text: '' });
  }
}
