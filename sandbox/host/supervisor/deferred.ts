import type { RunFailure } from './run-failure.ts';

/** A promise that is settled from outside, and that nobody has to wait for. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: RunFailure): void;
}

export function createDeferred<T>(): Deferred<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  promise.catch(() => {});
  return { promise, resolve, reject };
}

/** What has arrived in the meantime is looked at first: a busy host must not take a prompt child for a dead one. */
export const startTimeout = (milliseconds: number, act: () => void): NodeJS.Timeout =>
  setTimeout(() => void setImmediate(act), milliseconds);
