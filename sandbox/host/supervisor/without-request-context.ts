import { AsyncLocalStorage } from 'node:async_hooks';

/** Runs work outside of whatever request happens to be at hand: a process outlives the one that made it necessary. */
export const withoutRequestContext: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();
