import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAddressPolicy } from '../../../plugins/outbound/address-policy.ts';
import { createResolver } from '../../../plugins/outbound/resolve.ts';
import { createOutbound } from '../../../plugins/outbound/send.ts';

export interface ReceivedRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface TestServer {
  readonly server: Server;
  readonly port: number;
  readonly received: ReceivedRequest[];
  close(): Promise<void>;
}

/** Resolves host names; without one, a test's names have no address. */
export type TestResolver = Parameters<typeof createOutbound>[0]['resolve'];

/** Resolves every name to this machine. */
export const toLoopback: TestResolver = async () => [{ address: '127.0.0.1', family: 4 }];

interface TestOutbound {
  /** `system` is the resolver of the service. Default: no name has an address. */
  readonly resolve?: TestResolver | 'system';
  /** Addresses that are allowed although they are not public. Default: 127.0.0.1. */
  readonly allowed?: string[];
}

/** Creates the service `outbound` with names and addresses of the test. */
export const createTestOutbound = ({ resolve = async () => [], allowed = ['127.0.0.1'] }: TestOutbound = {}) =>
  createOutbound({
    policy: createAddressPolicy([], allowed),
    resolve: resolve === 'system' ? createResolver() : resolve,
  });

/** Starts a server on this machine that records requests. */
export async function startTestServer(answer: RequestListener): Promise<TestServer> {
  const received: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { method, url, headers } = request;
    received.push({ method, url, headers, body: Buffer.concat(parts).toString() });
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    server,
    port: (server.address() as AddressInfo).port,
    received,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
