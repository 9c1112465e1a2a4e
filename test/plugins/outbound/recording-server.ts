import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOutboundAddressPolicy } from '../../../plugins/outbound/address-policy.ts';
import { createHostResolver } from '../../../plugins/outbound/host-resolver.ts';
import { createOutboundService } from '../../../plugins/outbound/service.ts';

export interface ReceivedRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface RecordingServer {
  readonly server: Server;
  readonly port: number;
  readonly received: ReceivedRequest[];
  close(): Promise<void>;
}

/** A host name resolver of a test. */
export type TestHostResolver = Parameters<typeof createOutboundService>[0]['resolve'];

/** A resolver under which every host name has the address 127.0.0.1. */
export const loopbackResolver: TestHostResolver = async () => [{ address: '127.0.0.1', family: 4 }];

interface TestOutbound {
  /** Resolver of host names; `system` is the one of the service. Default: no name has an address. */
  readonly resolve?: TestHostResolver | 'system';
  /** Addresses that are allowed although they are not public. Default: 127.0.0.1. */
  readonly allowed?: string[];
}

/** Creates the service `outbound` with the host names and allowed addresses of a test. */
export const createTestOutbound = ({ resolve = async () => [], allowed = ['127.0.0.1'] }: TestOutbound = {}) =>
  createOutboundService({
    policy: createOutboundAddressPolicy([], allowed),
    resolve: resolve === 'system' ? createHostResolver() : resolve,
  });

/** Starts an HTTP server on the loopback interface that records its requests. */
export async function startRecordingServer(answer: RequestListener): Promise<RecordingServer> {
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
