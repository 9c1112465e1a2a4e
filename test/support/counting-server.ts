import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that arrived. */
export interface CountedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface CountingServer {
  readonly url: string;
  readonly requests: CountedRequest[];
  /** The status of the next answers, whose body has the `Idempotency-Key` as `key`; a promise keeps the client waiting. */
  answer: (request: CountedRequest) => number | Promise<number>;
  stop(): Promise<void>;
}

/** Starts a server that keeps what it receives. Services reach it with `ALLOW_LOOPBACK`. */
export async function startCountingServer(): Promise<CountingServer> {
  const requests: CountedRequest[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const one = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(parts).toString() };
    requests.push(one);
    const status = await counting.answer(one);
    const key = request.headers['idempotency-key'] ?? null;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ key }));
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const counting: CountingServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer: () => 200,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return counting;
}

/** Lets flows send requests to this machine. */
export const ALLOW_LOOPBACK = { IMPORT_IP_ALLOW_LIST: '127.0.0.1' } as const;
