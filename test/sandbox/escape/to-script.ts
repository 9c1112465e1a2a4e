import type { HostileProgram } from './hostile-programs.ts';

/** Programs that show a text of their own, or a name that scripts have, with what the text is replaced by: neither is an escape of a script. */
const HARMLESS: Readonly<Record<string, readonly [string, string]>> = {
  'answer-text': ['ESCAPED', 'own text'],
  'answer-throws': ['ESCAPED', 'own text'],
  'answer-throws-object': ['ESCAPED', 'own text'],
  'realm-globals': ["'global', ", ''],
};

/**
 * The code of an operation `exec` that does what a hostile program does. The program receives what a script of a flow can reach in place of
 * the objects that an endpoint receives, and its answer is the result of the step.
 */
export function toScript({ id, text }: Pick<HostileProgram, 'id' | 'text'>): string {
  const [from, to] = HARMLESS[id] ?? ['', ''];
  return `${text.replace(from, to).replace(/^export default\b/m, 'const program =')}
;module.exports = async function (data) {
  const input = { method: 'GET', path: '/', query: {}, body: null, data };
  const levels = ['debug', 'info', 'warn', 'error'].map((level) => [level, Object.freeze((...all) => console[level](...all))]);
  const host = Object.freeze({ log: Object.freeze(Object.fromEntries(levels)) });
  const context = { host, accountability: data.$accountability, activation: {}, reject: (...all) => { throw all; } };
  return program.handler(input, context);
};
`;
}
