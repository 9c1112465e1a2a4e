import type { Log } from '#kernel';
import type { RequestEnd } from './contract.ts';

const NAMES = 'token|secret|passw|passphrase|otp|(?:api|access|private)[_-]?key|credential|authorization';
/** Names with which sign-in providers send browsers back. */
const PROVIDER_NAMES = String.raw`(?:code|state|saml\w*|relaystate)`;
/** A cheap check of whole addresses; those with an escape are looked at in full. */
const MAY_HOLD_SECRET = new RegExp(String.raw`${NAMES}|[%\\]|[?&]${PROVIDER_NAMES}=`, 'i');
const SECRET_NAME = new RegExp(`${NAMES}|^${PROVIDER_NAMES}$`, 'i');
/** A name in JSON or GraphQL; one with an escape such as \u006b may be any name. */
const SECRET_NAME_IN_VALUE = new RegExp(String.raw`${NAMES}|\\u`, 'i');
/** Milliseconds from which a request is logged whatever the share of logged requests is. */
const SLOW = 1000;

/** One request as the log has it, with all that metrics and traces know of it too. */
export interface LoggedRequest extends RequestEnd {
  /** Path and query string as they were sent. */
  readonly url: string;
  /** Address of the client. */
  readonly ip: string | null;
}

export type LogRequest = (request: LoggedRequest) => void;

/**
 * Writes one log line for a request: method, path, status, duration, address, user, the template of its route and the plugin that
 * answers it. No headers, and no secrets of the query string.
 * @param share of the requests below 500 and faster than a second that get a line, 0 to 1 (LOG_HTTP_SAMPLE_RATE)
 */
export const createRequestLog =
  (log: Log, share: number): LogRequest =>
  ({ method, url, status, ip, user, route, duration }) => {
    const isSampled = share < 1 && status < 500 && duration < SLOW;
    if (isSampled && Math.random() >= share) return;
    const path = MAY_HOLD_SECRET.test(url) ? redactSecrets(url) : url;
    const ms = Math.round(duration * 10) / 10;
    const about = { method, path, route: route?.path, routeOwner: route?.owner, status, ms, ip, user };
    log.info(isSampled ? { ...about, sampleRate: share } : about, 'request');
  };

/**
 * Replaces the values of parameters that have the name of a secret, and those with JSON or GraphQL in which there is such a name:
 * `filter={"token":{"_eq":"…"}}`.
 */
export function redactSecrets(url: string): string {
  const at = url.indexOf('?');
  if (at === -1) return url;
  const parts = url
    .slice(at + 1)
    .split('&')
    .map((part) => {
      const [name = ''] = part.split('=', 1);
      const isSecret = part !== name && (isSecretName(decode(name)) || hasSecretName(decode(part.slice(name.length))));
      return isSecret ? `${name}=--redact--` : part;
    });
  return `${url.slice(0, at)}?${parts.join('&')}`;
}

/** A text that cannot be decoded may still hold a secret. */
const isSecretName = (name: string | undefined): boolean => name === undefined || SECRET_NAME.test(name);
const hasSecretName = (value: string | undefined): boolean =>
  value === undefined || (/[{[]/.test(value) && SECRET_NAME_IN_VALUE.test(value));

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
