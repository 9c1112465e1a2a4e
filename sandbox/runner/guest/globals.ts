import { defineProperty, deleteProperty } from './primordials.ts';

/** Names of what is not the language (`language.ts`); filled in where the script is made. */
declare const OTHER_GLOBALS: readonly string[];

export function define(name: string, value: unknown): void {
  defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
}

export function removeOtherGlobals(): void {
  for (let index = 0; index < OTHER_GLOBALS.length; index++) deleteProperty(globalThis, OTHER_GLOBALS[index] as string);
  // The engine's own console talks to debuggers; libraries still expect one to be there (conventions, "The guest
  // environment": output is dropped).
  const silent = () => {};
  // Without a prototype it is made in a third of the time.
  define('console', {
    __proto__: null,
    assert: silent,
    debug: silent,
    dir: silent,
    error: silent,
    group: silent,
    groupEnd: silent,
    info: silent,
    log: silent,
    table: silent,
    trace: silent,
    warn: silent,
  });
}
