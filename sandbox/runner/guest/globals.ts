import { defineProperty, deleteProperty } from './primordials.ts';

/** Globals that are not part of the language (`language-globals.ts`). `bundleGuestPreludeSource` passes them in. */
declare const OTHER_GLOBALS: readonly string[];

export function defineGlobal(name: string, value: unknown): void {
  defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
}

export function removeNonLanguageGlobals(): void {
  for (let index = 0; index < OTHER_GLOBALS.length; index++) deleteProperty(globalThis, OTHER_GLOBALS[index] as string);
  // The console of the engine writes to debuggers. Libraries still expect a console (conventions, "The guest
  // environment": output is dropped).
  const ignore = () => {};
  // An object without a prototype is created in a third of the time.
  defineGlobal('console', {
    __proto__: null,
    assert: ignore,
    debug: ignore,
    dir: ignore,
    error: ignore,
    group: ignore,
    groupEnd: ignore,
    info: ignore,
    log: ignore,
    table: ignore,
    trace: ignore,
    warn: ignore,
  });
}
