import type { EventsApi, Log } from '#kernel';
import type { AccessControl } from '../access/contract.ts';
import type { ItemsEngine } from '../items/contract.ts';
import type { SocketAuthentication, SocketTransport } from '../realtime/contract.ts';
import type { SchemaService } from '../schema/contract.ts';
import { RestConnection } from './rest-connection.ts';

/** What connections of this transport share. */
export interface RestTransportDeps {
  readonly access: Pick<AccessControl, 'permissions'>;
  readonly items: ItemsEngine;
  readonly schema: Pick<SchemaService, 'snapshot' | 'refresh'>;
  readonly events: EventsApi;
  readonly log: Log;
  readonly authentication: SocketAuthentication;
  /** Milliseconds. */
  readonly authTimeout: number;
  readonly connectionLimit: number | undefined;
}

/** The socket with JSON messages (conventions, "Realtime"). */
export function createRestTransport(deps: RestTransportDeps): SocketTransport {
  const connections = new WeakMap<object, RestConnection>();
  return {
    name: 'rest',
    authentication: deps.authentication,
    connectionLimit: deps.connectionLimit,
    onDrop: (client, failure) => connections.get(client)?.drop(failure),
    open(client, socket) {
      connections.set(client, new RestConnection(deps, client, socket));
    },
  };
}
