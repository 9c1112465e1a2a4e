/** Bounds of one message. Sizes in characters unless they say otherwise. */
export const MAIL_LIMITS = {
  /** Recipients over `to`, `cc` and `bcc`. */
  recipients: 100,
  subject: 500,
  /** The name that is shown for an address. */
  name: 200,
  /** An address, and the part before its `@` (RFC 5321, section 4.5.3.1). */
  address: 254,
  localPart: 64,
  html: 500_000,
  text: 250_000,
  /** Bytes of the data of a template, as JSON. */
  data: 256 * 1024,
  /** Bytes of the whole message as JSON, below what one job holds. */
  message: 900_000,
  /** Bytes of a template file. */
  template: 256 * 1024,
} as const;

/** The queue of mail: attempts over about nine hours, as servers that are down or refuse for the moment need. */
export const MAIL_QUEUE = { name: 'mail', retries: 15, retryDelay: 30, timeout: 900, concurrency: 3 } as const;

/** Days that acceptances are kept, as long as dead letters. */
export const ACCEPTANCE_DAYS = 30;

/** Milliseconds that a running attempt may still take when the service stops. */
export const STOP_GRACE = 5000;
