/**
 * The language and nothing else. Left out on purpose: WebAssembly, SharedArrayBuffer and Atomics (memory outside of the
 * limit, clocks), FinalizationRegistry (its callbacks run after the invocation, outside of any time limit), and whatever
 * a newer engine brings until somebody has looked at it.
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
 * What else a realm is born with, by name. All realms of an isolate are born alike, so it is looked for in one of them;
 * `evaluate` runs a script in that one and returns its value. Throws for what has no name: no engine has such a thing yet.
 */
export function listOtherGlobals(evaluate: (script: string) => unknown): readonly string[] {
  const all: readonly string[] = JSON.parse(
    String(evaluate('JSON.stringify(Reflect.ownKeys(globalThis), (_, key) => (typeof key === "symbol" ? 0 : key))')),
  );
  if (all.some((name) => typeof name !== 'string')) throw new Error('the global object has a property without a name');
  return all.filter((name) => !LANGUAGE_GLOBALS.has(name));
}
