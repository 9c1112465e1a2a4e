import type { ClientLimit, ClientLimits } from '../rate-limit/contract.ts';

export interface RegistrationConfig {
  USER_REGISTER_URL_ALLOW_LIST: readonly string[];
  EMAIL_VERIFICATION_TOKEN_TTL: number;
  REGISTER_STALL_TIME: number;
  RATE_LIMITER_REGISTRATION_ENABLED: boolean;
  RATE_LIMITER_REGISTRATION_POINTS: number;
  RATE_LIMITER_REGISTRATION_DURATION: number;
}

/** Settings of `auth` and of the kernel. */
export interface SharedConfig {
  readonly AUTH_DISABLE_DEFAULT: boolean;
  readonly LOGIN_STALL_TIME: number;
  readonly PUBLIC_URL: string;
}

/** The limit of registrations of each client address; undefined where it is off. */
export const limitOf = (config: Readonly<RegistrationConfig>, limits: ClientLimits): ClientLimit | undefined =>
  config.RATE_LIMITER_REGISTRATION_ENABLED
    ? limits.define('registration', {
        points: config.RATE_LIMITER_REGISTRATION_POINTS,
        duration: config.RATE_LIMITER_REGISTRATION_DURATION,
      })
    : undefined;
