import { AsyncLocalStorage } from 'node:async_hooks';

/** Runs work outside of the asynchronous context of the current request, since processes outlive requests. */
export const withoutRequestContext: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();
