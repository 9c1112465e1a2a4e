/** What the runner enters the guest's realm for: `enter(op, id, key, text, more)`. */
export const OP = {
  /** → the oldest thing to say, see `guest/outbox.ts`. */
  fetch: 0,
  /** `more`: the artifact's function; `key` 1: say what its contract is. */
  evaluate: 1,
  /** `text`: `{ entry, context }`, `more`: the input, both JSON. */
  invoke: 2,
  /** `key`: the call, `text`: JSON, `more`: 1 where it went well. */
  reply: 3,
  /** `key`: the timer whose time has come. */
  fire: 4,
  /** Nobody waits for the invocation any more. */
  end: 5,
} as const;
