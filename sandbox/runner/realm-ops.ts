/** Operations with which the runner enters the guest's realm: `enter(op, id, key, text, more)`. */
export const REALM_OPERATION_CODES = {
  /** → returns the oldest message, see `guest/outbox.ts`. */
  fetch: 0,
  /** `more`: the artifact's function; `key` 1: post its contract. */
  evaluate: 1,
  /** `text`: `{ entry, context }`, `more`: the input, both JSON. */
  invoke: 2,
  /** `key`: the call, `text`: JSON, `more`: 1 where it succeeded. */
  reply: 3,
  /** `key`: the timer whose time has come. */
  fire: 4,
  /** Ends the invocation: drops its timers and results. */
  end: 5,
} as const;
