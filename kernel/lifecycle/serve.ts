import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { type ComposeAppOptions, composeApp } from '../app.ts';
import type { SettingsStore } from '../config/settings.ts';
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
  readonly settings: Pick<SettingsStore, 'value'>;
  /** Returns the current upgrade handlers by path, which change when plugins are loaded and unloaded. */
  readonly upgrades: () => ReadonlyMap<string, Upgrade>;
}

/** Milliseconds that aborted requests have to undo what they began, before the services they use are stopped. */
const UNDO_TIME = 3000;

/** Opens the HTTP server. @throws BootFailure */
export async function serve({ settings, middleware, upgrades, log }: ServeOptions): Promise<HttpServer> {
  const load = { running: 0, isDraining: false };
  const app = composeApp({ middleware, log, load });
  // Headers must come in time, for which Node looks every half a minute by default; the plugin that reads a body sets its time limit.
  const headersTimeout = settings.value<number>('SERVER_HEADERS_TIMEOUT');
  const connectionsCheckingInterval = Math.min(Math.max(headersTimeout, 100), 30_000);
  const server = createServer({ requestTimeout: 0, headersTimeout, connectionsCheckingInterval }, app.callback());
  server.keepAliveTimeout = settings.value('SERVER_KEEP_ALIVE_TIMEOUT');
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => {}); // Without a listener a client that resets would end the process.
    const taken = upgrades().get((request.url ?? '').split('?', 1)[0] as string);
    if (taken) taken.handle(request, socket, head);
    else socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n', () => socket.destroy());
  };
  await listen(server, settings);
  const bound = server.address() as AddressInfo | string;
  const [port, host] = typeof bound === 'string' ? [0, bound] : [bound.port, bound.address];
  const updateUpgrades = () => {
    server.off('upgrade', onUpgrade);
    if (upgrades().size > 0) server.on('upgrade', onUpgrade);
  };
  updateUpgrades();
  return {
    server,
    updateUpgrades,
    port,
    address: port === 0 ? `unix:${host}` : `http://${/^(0\.0\.0\.0|::)$/.test(host) ? 'localhost' : host}:${port}`,
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

async function listen(server: Server, settings: Pick<SettingsStore, 'value'>): Promise<void> {
  const [path, host, port] = ['UNIX_SOCKET_PATH', 'HOST', 'PORT'].map((name) => settings.value<string>(name));
  const [where, setting] = path ? [path, 'UNIX_SOCKET_PATH'] : [`port ${port} on ${host}`, 'PORT (or HOST)'];
  try {
    server.listen(path ? { path } : { host, port: Number(port) });
    await once(server, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    let reason = `cannot listen on ${where} (${code})`;
    if (code === 'EADDRINUSE') reason = `${where} is in use`;
    if (code === 'EACCES') reason = `${where} needs more rights than this user has`;
    throw new BootFailure('kernel', 'listen', reason, { remedy: `set ${setting} to a free one`, cause: error });
  }
}
