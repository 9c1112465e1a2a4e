import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Log } from '#kernel';
import type { Realtime } from '../realtime/contract.ts';
import type { GraphqlSocketServerDeps, OpenGraphqlSocket } from './socket-server.ts';
import { toUpgradeRequest } from './upgrade-request.ts';

/** The sub-protocol of graphql-ws. */
const PROTOCOL = 'graphql-transport-ws';

interface Deps extends GraphqlSocketServerDeps {
  readonly realtime: Pick<Realtime, 'accept'>;
  /** Connections of sockets; undefined is no limit but that of all. */
  readonly connectionLimit: number | undefined;
  readonly log: Log;
}

/** Takes over the connection of an upgrade. The first one loads the library and the protocol. */
export function createGraphqlSocketHandler(
  deps: Deps,
): (request: IncomingMessage, socket: Duplex, head: Buffer) => void {
  const { realtime, authentication, connectionLimit, log } = deps;
  let loading: Promise<OpenGraphqlSocket> | undefined;

  async function load(): Promise<OpenGraphqlSocket> {
    const { createGraphqlSocketServer } = await import('./socket-server.ts');
    return createGraphqlSocketServer(deps);
  }

  async function accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    loading ??= load();
    const open = await loading;
    const kept = toUpgradeRequest(request);
    let close: ((reason: unknown) => void) | undefined;
    await realtime.accept(request, socket, head, {
      name: 'graphql',
      authentication,
      connectionLimit,
      protocol: (offered) => (offered.has(PROTOCOL) ? PROTOCOL : undefined),
      open(client, opened) {
        close = open(client, opened, kept);
      },
      onDrop: (_client, failure) => close?.(failure),
    });
  }

  return (request, socket, head) => {
    accept(request, socket, head).catch((error: unknown) => {
      loading = undefined;
      log.error({ err: error }, 'a GraphQL socket could not be opened');
      socket.destroy();
    });
  };
}
