import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Proxy {
  /** Ends in the path. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Serves what is at `target` below `path`, and nothing beside it. */
export async function startProxy(target: string, path: string): Promise<Proxy> {
  const server = createServer((asked, answer) => {
    const { url = '', method, headers } = asked;
    if (!url.startsWith(`${path}/`)) {
      answer.writeHead(404).end();
      return;
    }
    const passed = request(target + url.slice(path.length), { method, headers }, (response) => {
      answer.writeHead(response.statusCode as number, response.headers);
      response.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    asked.pipe(passed);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
