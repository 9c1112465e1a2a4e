import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { type ComposeAppOptions, composeApp } from '../app.ts';
import { BootFailure } from './boot-failure.ts';
import type { Upgrade } from './kernel-facets.ts';

/** Not an `import`, which also loads lazy members of the module: an HTTP client of 13 MB. */
const { createServer } = process.getBuiltinModule('node:http');

export interface HttpServer {
  readonly port: number;
  readonly address: string;
  readonly server: Server;
  /** Call it after upgrade handlers were added or removed: without any, the server treats upgrade requests as ordinary ones. */
  updateUpgrades(): void;
  /** Answers with `Connection: close` for `delay` ms, stops accepting, waits at most `timeout` ms for running requests, cuts them off and waits until they have rolled back. */
  drain(delay: number, timeout: number): Promise<void>;
}

interface ServeOptions extends Omit<ComposeAppOptions, 'load'> {
  readonly host: string;
  readonly port: number;
  /** Returns the current upgrade handlers by path, which change when plugins are loaded and unloaded. */
  readonly upgrades: () => ReadonlyMap<string, Upgrade>;
}

/** Milliseconds that aborted requests have to undo what they began, before the services they use are stopped. */
const UNDO_TIME = 3000;

/** Opens the HTTP server. @throws BootFailure */
export async function serve({ host, port, middleware, upgrades, log }: ServeOptions): Promise<HttpServer> {
  const load = { running: 0, isDraining: false };
  const app = composeApp({ middleware, log, load });
  // Headers must come in time; a body may be gigabytes on a slow line, and the plugin that reads it sets its time limit.
  const server = createServer({ requestTimeout: 0, headersTimeout: 60_000 }, app.callback());
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const taken = upgrades().get(new URL(request.url ?? '/', 'http://localhost').pathname);
    if (taken) taken.handle(request, socket, head);
    else socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  };
  await listen(server, host, port);
  const bound = server.address() as AddressInfo;
  const hostname = bound.address === '0.0.0.0' || bound.address === '::' ? 'localhost' : bound.address;
  const updateUpgrades = () => {
    server.off('upgrade', onUpgrade);
    if (upgrades().size > 0) server.on('upgrade', onUpgrade);
  };
  updateUpgrades();
  return {
    server,
    updateUpgrades,
    port: bound.port,
    address: `http://${hostname}:${bound.port}`,
    async drain(delay, timeout) {
      load.isDraining = true;
      if (delay > 0) await pause(delay);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const cut = setTimeout(() => server.closeAllConnections(), timeout);
      const sweep = setInterval(() => server.closeIdleConnections(), 20); // Keep-alive would keep them open.
      await closed;
      for (const timer of [cut, sweep]) clearTimeout(timer);
      for (let left = UNDO_TIME; load.running > 0 && left > 0; left -= 20) await pause(20);
    },
  };
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    let reason = `cannot listen on ${host}:${port} (${code})`;
    if (code === 'EADDRINUSE') reason = `port ${port} on ${host} is in use`;
    if (code === 'EACCES') reason = `port ${port} needs more rights than this user has`;
    throw new BootFailure('kernel', 'listen', reason, { remedy: 'set PORT (or HOST) to a free one', cause: error });
  }
}
