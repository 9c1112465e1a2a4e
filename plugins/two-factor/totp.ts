import { Secret, TOTP } from 'otpauth';

/** What authenticator apps understand without exception: RFC 6238 with SHA-1, six digits and steps of 30 seconds. */
const PARAMETERS = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
/** Bytes of a secret: the length of SHA-1, as RFC 4226 recommends. */
const SECRET_BYTES = 20;
/** Time steps before and after the current one whose code is accepted, for clocks that differ. */
const TOLERANCE = 1;

export const TIME_CODE = /^\d{6}$/;

/** A new random secret in Base32. */
export const createTotpSecret = (): string => new Secret({ size: SECRET_BYTES }).base32;

/** The address that authenticator apps read, usually from a QR code. */
export const renderOtpauthUrl = (secret: string, issuer: string, label: string): string =>
  new TOTP({ ...PARAMETERS, secret, issuer, label }).toString();

/** The time step of a code; undefined for a code that is none of the secret's at this time (milliseconds). */
export function findTimeStep(secret: string, code: string, timestamp = Date.now()): number | undefined {
  const { period } = PARAMETERS;
  const delta = TOTP.validate({
    ...PARAMETERS,
    secret: Secret.fromBase32(secret),
    token: code,
    timestamp,
    window: TOLERANCE,
  });
  return delta === null ? undefined : TOTP.counter({ period, timestamp }) + delta;
}
