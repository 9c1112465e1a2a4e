export type ExtensionHandler = (...args: never[]) => unknown;

/** @throws TypeError for a listener without an event name or a function. */
export function assertHandler(event: unknown, handle: unknown): void {
  if (typeof event !== 'string' || event === '') throw new TypeError('the name of an event must be a text');
  if (typeof handle !== 'function') throw new TypeError(`the handler of ${event} must be a function`);
}
