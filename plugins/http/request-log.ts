import type { Log } from '#kernel';

/** Exact names are those with which sign-in providers send browsers back. */
const MAY_HOLD_SECRET =
  /token|secret|passw|passphrase|otp|(?:api|access|private)[_-]?key|credential|authorization|%|[?&](?:code|state|saml\w*|relaystate)=/i;
const SECRET_NAME =
  /token|secret|passw|passphrase|otp|(?:api|access|private)[_-]?key|credential|authorization|^(?:code|state|saml\w*|relaystate)$/i;

export interface LoggedRequest {
  readonly method: string;
  /** Path and query string as they were sent. */
  readonly url: string;
  readonly status: number;
  /** Address of the client. */
  readonly ip: string | null;
  /** Key of the user; null without one. */
  readonly user: string | null;
  /** `performance.now()` at the start of the request. */
  readonly started: number;
}

/**
 * Writes one log line for a request: method, path, status, duration, address, user. No headers, and no secrets of the
 * query string.
 */
export function logRequest(log: Log, { method, url, status, ip, user, started }: LoggedRequest): void {
  const path = MAY_HOLD_SECRET.test(url) ? redactSecrets(url) : url;
  log.info({ method, path, status, ms: Math.round((performance.now() - started) * 10) / 10, ip, user }, 'request');
}

export function redactSecrets(url: string): string {
  const at = url.indexOf('?');
  if (at === -1) return url;
  const parts = url
    .slice(at + 1)
    .split('&')
    .map((part) => {
      const [name = ''] = part.split('=', 1);
      return SECRET_NAME.test(decodeName(name)) && part !== name ? `${name}=--redact--` : part;
    });
  return `${url.slice(0, at)}?${parts.join('&')}`;
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A name that cannot be decoded may still be that of a secret.
    return 'secret';
  }
}
