/**
 * Globals of the language, which the guest keeps. Left out on purpose: WebAssembly, SharedArrayBuffer and Atomics
 * (memory outside of the limit, clocks), FinalizationRegistry (its callbacks run after the invocation, outside of any
 * time limit), and globals of newer engines until they are reviewed.
 */
const LANGUAGE_GLOBALS: ReadonlySet<string> = new Set([
  ...['globalThis', 'Infinity', 'NaN', 'undefined', 'eval', 'isFinite', 'isNaN', 'parseFloat', 'parseInt'],
  ...['decodeURI', 'decodeURIComponent', 'encodeURI', 'encodeURIComponent', 'escape', 'unescape'],
  ...['Object', 'Function', 'Boolean', 'Symbol', 'Number', 'BigInt', 'Math', 'Date', 'String', 'RegExp', 'JSON'],
  ...['Error', 'AggregateError', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError'],
  ...['Intl', 'Iterator', 'Promise', 'Proxy', 'Reflect'],
  ...['Array', 'Map', 'Set', 'WeakMap', 'WeakSet', 'WeakRef', 'ArrayBuffer', 'DataView'],
  ...['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array'],
  ...['Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array'],
]);

/**
 * Names of all other globals of a new realm. All realms of an isolate start alike, so one of them is inspected:
 * `evaluate` runs a script in it and returns its value. Throws for a global without a name, which no engine has so far.
 */
export function listNonLanguageGlobals(evaluate: (script: string) => unknown): readonly string[] {
  const all: readonly string[] = JSON.parse(
    String(evaluate('JSON.stringify(Reflect.ownKeys(globalThis), (_, key) => (typeof key === "symbol" ? 0 : key))')),
  );
  if (all.some((name) => typeof name !== 'string')) throw new Error('the global object has a property without a name');
  return all.filter((name) => !LANGUAGE_GLOBALS.has(name));
}
