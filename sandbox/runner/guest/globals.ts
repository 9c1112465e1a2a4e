import { defineProperty, deleteProperty, ownKeys } from './primordials.ts';

/**
 * The language and nothing else. Left out on purpose: WebAssembly, SharedArrayBuffer and Atomics (memory outside of the
 * limit, clocks), FinalizationRegistry (its callbacks run after the invocation, outside of any time limit), and whatever
 * a newer engine brings until somebody has looked at it.
 */
const LANGUAGE: readonly (string | symbol)[] = [
  ...['globalThis', 'Infinity', 'NaN', 'undefined', 'eval', 'isFinite', 'isNaN', 'parseFloat', 'parseInt'],
  ...['decodeURI', 'decodeURIComponent', 'encodeURI', 'encodeURIComponent', 'escape', 'unescape'],
  ...[
    'Object',
    'Function',
    'Boolean',
    'Symbol',
    'Number',
    'BigInt',
    'Math',
    'Date',
    'String',
    'RegExp',
    'JSON',
    'Intl',
  ],
  ...['Error', 'AggregateError', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError'],
  ...['SuppressedError', 'DisposableStack', 'AsyncDisposableStack', 'Iterator', 'Promise', 'Proxy', 'Reflect'],
  ...['Array', 'Map', 'Set', 'WeakMap', 'WeakSet', 'WeakRef', 'ArrayBuffer', 'DataView'],
  ...['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array'],
  ...['Float16Array', 'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array'],
];

const SILENT = ['assert', 'debug', 'dir', 'error', 'group', 'groupEnd', 'info', 'log', 'table', 'trace', 'warn'];

export function define(name: string, value: unknown): void {
  defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
}

export function leaveOnlyTheLanguage(): void {
  const keep: Record<string | symbol, true> = Object.create(null);
  for (const name of LANGUAGE) keep[name] = true;
  for (const name of ownKeys(globalThis)) if (!keep[name]) deleteProperty(globalThis, name);
  // The engine's own console talks to debuggers; libraries still expect one to be there (conventions, "The guest
  // environment": output is dropped).
  const silent: Record<string, () => void> = {};
  for (const name of SILENT) silent[name] = () => {};
  define('console', silent);
}
