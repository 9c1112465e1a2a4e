import { service } from '#kernel';

/** How many requests are answered in how long. */
export interface RateLimit {
  /** Requests within one window. */
  readonly points: number;
  /** Seconds of one window, which begins with its first request. */
  readonly duration: number;
}

/** The limits that are in force; `false` for one that is off. */
export interface RateLimits {
  /** For each client address. */
  readonly address: RateLimit | false;
  /** For all clients together. */
  readonly global: RateLimit | false;
}

/** For plugins that tell clients of the limits, such as `server`. */
export const rateLimits = service<RateLimits>('rate-limits', { version: '1.0.0' });
