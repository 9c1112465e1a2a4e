import type { InvocationFailure } from './invocation-failure.ts';

/** A promise that is settled from outside and whose rejection may stay unhandled. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: InvocationFailure): void;
}

export function createDeferred<T>(): Deferred<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  promise.catch(() => {});
  return { promise, resolve, reject };
}

/**
 * A timeout that runs after pending I/O was processed, so that a busy host does not take a prompt child for a dead one.
 */
export const setTimeoutAfterIo = (milliseconds: number, act: () => void): NodeJS.Timeout =>
  setTimeout(() => void setImmediate(act), milliseconds);
