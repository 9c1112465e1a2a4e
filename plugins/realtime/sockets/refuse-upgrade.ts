import type { Duplex } from 'node:stream';

const REASONS = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  429: 'Too Many Requests',
  503: 'Service Unavailable',
} as const;

/** Why an upgrade is refused. */
export interface UpgradeRefusal {
  readonly status: keyof typeof REASONS;
  /** Seconds after which the client may try again. */
  readonly retryAfter?: number | undefined;
}

/** Answers an upgrade with a status and no body, and closes the connection (conventions, "Upgrade refusals"). */
export function refuseUpgrade(socket: Duplex, { status, retryAfter }: UpgradeRefusal): void {
  const header = retryAfter === undefined ? '' : `Retry-After: ${retryAfter}\r\n`;
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${REASONS[status]}\r\nConnection: close\r\n${header}Content-Length: 0\r\n\r\n`);
}
