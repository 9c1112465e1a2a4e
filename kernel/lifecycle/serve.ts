import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { compose } from '../app.ts';
import type { Log } from '../log.ts';
import { BootFailure } from './failure.ts';
import type { HealthCheck, Middleware } from './kernel-facets.ts';

export interface HttpServer {
  readonly port: number;
  readonly address: string;
  readonly server: Server;
  /** Stops accepting, lets running requests end for at most `timeout` ms, then cuts the rest, which undo what they began. */
  drain(timeout: number): Promise<void>;
}

interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly middleware: readonly (Middleware & { owner: string })[];
  readonly health: readonly HealthCheck[];
  readonly log: Log;
}

/** Milliseconds that requests without a client get to undo what they began: what they use for that is stopped afterwards. */
const UNDOING = 3000;

export async function serve({ host, port, middleware, health, log }: ServeOptions): Promise<HttpServer> {
  const state = { draining: false, running: 0 };
  const app = compose({ middleware, health, log, state });
  // Headers must come in time; a body may be gigabytes on a slow line, and whoever reads it says how long it may take.
  const server = createServer({ requestTimeout: 0, headersTimeout: 60_000 }, app.callback());
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason =
      code === 'EADDRINUSE'
        ? `port ${port} on ${host} is in use`
        : code === 'EACCES'
          ? `port ${port} needs more rights than this user has`
          : `cannot listen on ${host}:${port} (${code})`;
    throw new BootFailure('kernel', 'listen', reason, { remedy: 'set PORT (or HOST) to a free one', cause: error });
  }
  const bound = server.address() as AddressInfo;
  return {
    server,
    port: bound.port,
    address: `http://${bound.address === '0.0.0.0' || bound.address === '::' ? 'localhost' : bound.address}:${bound.port}`,
    async drain(timeout) {
      state.draining = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const cut = setTimeout(() => server.closeAllConnections(), timeout);
      // A connection whose last request has ended meanwhile would be kept for another one.
      const sweep = setInterval(() => server.closeIdleConnections(), 20);
      await closed;
      clearTimeout(cut);
      clearInterval(sweep);
      for (let left = UNDOING; state.running > 0 && left > 0; left -= 20) await pause(20);
    },
  };
}
