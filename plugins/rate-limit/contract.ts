import { service } from '#kernel';
import type { HttpContext } from '../http/contract.ts';

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

/** The limits of client addresses and of all clients, for what is no request to a route, such as upgrades and messages of sockets. */
export interface AddressLimits {
  /**
   * Counts like a request of this address. Counts nothing where RATE_LIMITER_ENABLED is off.
   * @throws REQUESTS_EXCEEDED over a limit, with `limit` and `reset`.
   */
  count(address: string | null): Promise<void>;
  /** Counts what failed authentication costs besides, where `error` is a wrong token, password or one-time code. */
  chargeFailedAuthentication(address: string | null, error: unknown): Promise<void>;
}

/** For plugins by which clients reach the service without a request to a route. */
export const addressLimits = service<AddressLimits>('address-limits', { version: '1.0.0', coreOnly: true });

/** A limit of requests to some routes, for each client address. */
export interface ClientLimit {
  /**
   * Counts the request, and writes the headers of the limit.
   * @throws REQUESTS_EXCEEDED over the limit, with `limit` and `reset`.
   */
  assertWithinLimit(ctx: HttpContext): Promise<void>;
}

/** Limits of client addresses that other plugins apply to routes of their own. */
export interface ClientLimits {
  /**
   * Defines a limit, which counts in RATE_LIMITER_STORE whether RATE_LIMITER_ENABLED is true or not; in memory where that is `redis` and
   * no Redis is configured. Nothing is loaded before the first request.
   * @param name tells the counts of limits apart
   */
  define(name: string, limit: RateLimit): ClientLimit;
}

/** For plugins whose routes cost more than others, such as the registration of users. */
export const clientLimits = service<ClientLimits>('client-limits', { version: '1.0.0' });
