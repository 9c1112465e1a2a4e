import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestStep } from './flow-fixture.ts';

/** A server that answers no request before the test says so, and then with characters that PostgreSQL does not store. */
export interface HeldServer {
  /** A step that waits for its answer. */
  readonly step: TestStep;
  /** Requests that it has received. */
  count(): number;
  /** Answers all requests that wait. */
  answer(): void;
  stop(): void;
}

export async function startHeldServer(): Promise<HeldServer> {
  const waiting: ServerResponse[] = [];
  let received = 0;
  const server = createServer((_request, response) => {
    received++;
    response.setHeader('content-type', 'application/json');
    waiting.push(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    step: { key: 'wait', type: 'request', options: { method: 'GET', url } },
    count: () => received,
    answer() {
      for (const response of waiting.splice(0)) response.end('{"text":"a\\u0000b\\ud800"}');
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
