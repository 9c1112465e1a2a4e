import type { Log } from '#kernel';

const TELLING = /token|secret|password|otp|%/i;
const SECRET = /token|secret|password|otp/i;

/** One line a request: what was asked, what came of it. Never a header, never a secret of the query. */
export function logRequest(log: Log, method: string, url: string, status: number, started: number): void {
  if (!log.isLevelEnabled('info')) return;
  const path = TELLING.test(url) ? withoutSecrets(url) : url;
  log.info({ method, path, status, ms: Math.round((performance.now() - started) * 10) / 10 }, 'request');
}

export function withoutSecrets(url: string): string {
  const at = url.indexOf('?');
  if (at === -1) return url;
  const parts = url
    .slice(at + 1)
    .split('&')
    .map((part) => {
      const [name = ''] = part.split('=', 1);
      return SECRET.test(decoded(name)) && part !== name ? `${name}=--redact--` : part;
    });
  return `${url.slice(0, at)}?${parts.join('&')}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // What cannot be read as a name may still hide one.
    return 'secret';
  }
}
