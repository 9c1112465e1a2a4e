/** The member of the result that says how the function of the script ended. */
export interface ScriptResult {
  readonly value?: unknown;
  /** What the function threw: its name and message where it is an error, else the value itself. */
  readonly thrown?: unknown;
}

/**
 * The program that runs the code of one operation (conventions, "exec sandbox limits"): a module as of CommonJS that exports a function of
 * the data of the run. `console` writes to the log of the service. Code that ends the function around it early gains nothing by that: it
 * runs in the same realm.
 */
export const buildScriptText = (code: string, env: Readonly<Record<string, string>>): string =>
  `(function (module, exports) {
'use strict';
const own = { exports: {} };
let log;
const text = (values) => values.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join(' ');
const line = (level) => (...values) => { if (log) log[level](text(values)); };
const console = { log: line('info'), info: line('info'), warn: line('warn'), error: line('error'), debug: line('debug'), trace: line('debug') };
const process = { env: Object.freeze(${JSON.stringify(env)}) };
globalThis.global = globalThis;
for (const name of ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval']) Reflect.deleteProperty(globalThis, name);
(function (module, exports, process, console) {
'use strict';
${code}
})(own, own.exports, process, console);
module.exports = {
  id: 'exec',
  async handler(data, context) {
    log = context.host.log;
    if (typeof own.exports !== 'function') throw new Error('the code must assign a function to module.exports');
    try {
      const value = await own.exports(data);
      return { value: value === undefined ? null : value };
    } catch (error) {
      return { thrown: error instanceof Error ? { name: error.name, message: error.message } : error };
    }
  },
};
})`;
