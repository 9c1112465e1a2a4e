import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { Failure, fail } from '#kernel';
import { clientInfoOf } from '../../http/library.ts';
import { type ClientDeps, ConnectedClient } from '../clients/client.ts';
import type { ConnectionLimits, CountedConnection } from '../clients/connection-limits.ts';
import type { PresentedCredential } from '../clients/credentials.ts';
import type { SocketTransport } from '../contract.ts';
import type { RealtimeEvents } from '../realtime-events.ts';
import type { RealtimeSettings } from '../settings.ts';
import type { Heartbeat } from './heartbeat.ts';
import { isOriginAllowed } from './origin.ts';
import { refuseUpgrade } from './refuse-upgrade.ts';
import { ServerSocket } from './socket.ts';
import { offeredProtocols, queryTokenOf, toHttpContext } from './upgrade-request.ts';

interface Deps {
  readonly settings: RealtimeSettings;
  readonly limits: ConnectionLimits;
  readonly heartbeat: Heartbeat;
  readonly clientDeps: ClientDeps;
  readonly events: RealtimeEvents;
  isStopping(): boolean;
  onOpen(client: ConnectedClient, socket: ServerSocket): void;
  onRefusal(): void;
}

type Accept = (request: IncomingMessage, socket: Duplex, head: Buffer, transport: SocketTransport) => Promise<void>;

/** Status of an upgrade whose credentials are refused. */
const refusalStatus = (error: unknown): 401 | 503 =>
  error instanceof Failure && error.code === 'SERVICE_UNAVAILABLE' ? 503 : 401;

/** Creates `Realtime.accept`. */
export function createUpgradeHandler(deps: Deps): Accept {
  const { settings, limits, heartbeat, clientDeps, events } = deps;
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // Compression costs each connection more memory than the connection itself.
    perMessageDeflate: false,
    maxPayload: settings.messageSize,
    handleProtocols: (_offered, request) => protocols.get(request) ?? false,
  });
  /** The protocol that was chosen for a request. */
  const protocols = new WeakMap<IncomingMessage, string>();

  function refuse(socket: Duplex, status: Parameters<typeof refuseUpgrade>[1]): void {
    deps.onRefusal();
    refuseUpgrade(socket, status);
  }

  /** The credential of the upgrade. @throws what `identity` throws for a wrong token */
  async function presentCredential(client: ConnectedClient, request: IncomingMessage): Promise<void> {
    const token = queryTokenOf(request);
    const credential: PresentedCredential =
      token !== undefined
        ? { kind: 'token', token }
        : { kind: 'cookie', request: toHttpContext(request, settings.proxies) };
    if (credential.kind === 'token' || request.headers.cookie !== undefined) {
      const caller = await client.present(credential);
      // A cookie of a session that has ended is no error, since browsers keep sending it.
      if (credential.kind === 'cookie' && caller.user === null) await client.present({ kind: 'public' });
    }
  }

  function open(
    ws: WebSocket,
    prepared: { client: ConnectedClient; transport: SocketTransport; setSocket(socket: ServerSocket): void },
  ): void {
    const { client, transport } = prepared;
    const socket = new ServerSocket(ws, {
      messages: settings.messages,
      onReady: () => client.resume(),
      onEnd() {
        heartbeat.remove(socket);
        client.close();
        events.emit('close', client, socket);
      },
      onError: (error) => events.emit('error', client, socket, { error: error.message }),
    });
    prepared.setSocket(socket);
    heartbeat.add(socket);
    deps.onOpen(client, socket);
    transport.open(client, socket);
    events.emit('connect', client, socket);
  }

  function createClient(request: IncomingMessage, transport: SocketTransport, counted: CountedConnection) {
    let socket: ServerSocket | undefined;
    let handleDrop: (failure: Failure) => void = () => {};
    const client = new ConnectedClient(clientDeps, {
      transport: transport.name,
      info: clientInfoOf(toHttpContext(request, settings.proxies)),
      counted,
      isReady: () => socket?.isReady ?? false,
      onDrop: (failure) => (transport.onDrop ? transport.onDrop(client, failure) : handleDrop(failure)),
    });
    const setSocket = (opened: ServerSocket) => {
      socket = opened;
      handleDrop = ({ code }) => opened.close(TRY_AGAIN_LATER, code);
    };
    return { client, transport, setSocket };
  }

  return async (request, socket, head, transport) => {
    const ignoreErrors = () => {};
    socket.on('error', ignoreErrors);
    if (deps.isStopping()) return refuse(socket, 503);
    if (!isOriginAllowed(request.headers, settings.origins)) return refuse(socket, 403);
    const info = clientInfoOf(toHttpContext(request, settings.proxies));
    const counted = limits.take(transport.name, transport.connectionLimit, info.ip);
    if (!counted) return refuse(socket, 403);
    const prepared = createClient(request, transport, counted);
    socket.once('close', () => prepared.client.close());
    try {
      await presentCredential(prepared.client, request);
      if (transport.authentication === 'strict' && !prepared.client.isAuthenticated)
        throw fail('INVALID_CREDENTIALS', 'no credentials');
    } catch (error) {
      prepared.client.close();
      return refuse(socket, refusalStatus(error));
    }
    const protocol = transport.protocol?.(offeredProtocols(request));
    if (transport.protocol && protocol === undefined) {
      prepared.client.close();
      return refuse(socket, 400);
    }
    if (protocol !== undefined) protocols.set(request, protocol);
    socket.off('error', ignoreErrors);
    server.handleUpgrade(request, socket, head, (ws) => open(ws, prepared));
  };
}

/** The close code of a client that the service drops: it may come back later. */
const TRY_AGAIN_LATER = 1013;
