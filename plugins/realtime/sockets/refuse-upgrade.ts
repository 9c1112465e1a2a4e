import type { Duplex } from 'node:stream';

const REASONS = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  503: 'Service Unavailable',
} as const;

/** Answers an upgrade with a status and nothing else, and closes the connection (conventions, "Upgrade refusals"). */
export function refuseUpgrade(socket: Duplex, status: keyof typeof REASONS): void {
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${REASONS[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
