import { createContext, Script } from 'node:vm';

/** The time limit of one match in milliseconds: some patterns take years for a text of 40 characters. */
const DEADLINE = 100;

/** Node applies a time limit only to scripts, so this one runs in its own context, which is created on first use. */
const TEST = new Script('pattern.test(text)');
let context: { pattern?: RegExp | undefined; text?: string } | undefined;

/**
 * A regular expression as text, with or without enclosing slashes.
 * @throws SyntaxError
 */
export function parsePattern(source: string): RegExp {
  const wrapped = /^\/(.*)\/([dimsu]*)$/s.exec(source);
  return new RegExp(wrapped?.[1] ?? source, wrapped?.[2] ?? '');
}

/** Whether the pattern matches; `timeout` when the match takes longer than 100 ms. */
export function testPattern(pattern: RegExp, text: string): boolean | 'timeout' {
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
