import { createContext, Script } from 'node:vm';

/** Milliseconds that one text may be compared with one pattern: some patterns take years for a text of 40 characters. */
const DEADLINE = 100;

/** What Node runs with a time limit is a script: this one, in a context of its own, which is made when it is needed. */
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

/** Whether the pattern matches, or `timeout` where finding out takes longer than 100 ms. */
export function testPattern(pattern: RegExp, text: string): boolean | 'timeout' {
  context ??= createContext({}) as NonNullable<typeof context>;
  try {
    Object.assign(context, { pattern, text });
    return TEST.runInContext(context, { timeout: DEADLINE }) === true;
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return 'timeout';
    throw error;
  } finally {
    // Texts may be passwords.
    Object.assign(context, { pattern: undefined, text: '' });
  }
}
