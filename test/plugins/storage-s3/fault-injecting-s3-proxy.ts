import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** What the relay does with a request. */
export type RelayDecision =
  | 'pass'
  /** The S3 server handles the request, but the connection closes before the response. */
  | 'lose the answer'
  /** The client gets the first ten bytes of the response body, and then nothing. */
  | 'fall silent'
  | 'cut'
  /** The relay answers with this status; the S3 server never gets the request. */
  | { readonly status: number };

export interface S3Relay {
  readonly url: string;
  /** All requests so far; `line` is `METHOD /path?query`. */
  readonly seen: readonly { readonly line: string; readonly headers: IncomingMessage['headers'] }[];
  /** Number of open connections from the driver to the relay. */
  connections(): number;
  /** Sets the function that decides what the relay does with each further request. */
  decide(fate: (line: string) => RelayDecision): void;
  close(): Promise<void>;
}

/** Starts an HTTP relay in front of an S3 server, which forwards everything unchanged unless `decide` says otherwise. */
export async function startS3Relay(target: string): Promise<S3Relay> {
  const { hostname, port } = new URL(target);
  const seen: { line: string; headers: IncomingMessage['headers'] }[] = [];
  const sockets = new Set<Socket>();
  let fateOf: (line: string) => RelayDecision = () => 'pass';

  const answer = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const line = `${incoming.method} ${incoming.url}`;
    seen.push({ line, headers: incoming.headers });
    const fate = fateOf(line);
    if (fate === 'cut') return void incoming.socket.destroy();
    if (typeof fate === 'object') {
      incoming.resume().once('end', () => outgoing.writeHead(fate.status, { 'content-length': 0 }).end());
      return;
    }
    const { method, url: path, headers } = incoming;
    const cut = () => void incoming.socket.destroy();
    const passed = request({ hostname, port, method, path, headers, agent: false }, (reply) => {
      reply.on('error', cut);
      // Swift sends a body in response to HEAD, which makes the connection fail after the response: the relay ignores that.
      passed.off('error', cut).on('error', () => {});
      if (fate === 'lose the answer') return void reply.resume().once('end', () => incoming.socket.destroy());
      outgoing.writeHead(reply.statusCode as number, reply.rawHeaders);
      if (fate === 'fall silent')
        return void reply.resume().once('data', (part) => outgoing.write(part.subarray(0, 10)));
      reply.pipe(outgoing);
    });
    passed.on('error', cut);
    outgoing.once('close', () => passed.destroy());
    incoming.pipe(passed);
  };

  const server = createServer(answer);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    connections: () => sockets.size,
    decide: (fate) => void (fateOf = fate),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
