/** Time limits of one exchange with the server, in milliseconds. */
export interface SmtpTimeLimits {
  /** Connecting, name resolution included. */
  readonly connect: number;
  /** From the connection to the greeting of the server. */
  readonly greeting: number;
  /** Without a byte from the server. */
  readonly idle: number;
  /** The whole exchange. */
  readonly total: number;
}

/**
 * The limits of a delivery. After the end of a message a server may take ten minutes (RFC 5321, section 4.5.3.2.6): a client that
 * gives up sooner sends messages twice, since the server may accept the first copy afterwards. The total stays below the time of a
 * job.
 */
export const DELIVERY_TIME_LIMITS: SmtpTimeLimits = {
  connect: 30_000,
  greeting: 60_000,
  idle: 600_000,
  total: 840_000,
};

/** The limits of a check, below those of the health check. */
export const VERIFY_TIME_LIMITS: SmtpTimeLimits = { connect: 4000, greeting: 4000, idle: 4000, total: 4500 };
