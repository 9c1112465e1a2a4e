import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { Failure, fail, type Log } from '#kernel';
import type { AuthClientInfo } from '../../auth/contract.ts';
import type { RoutingService } from '../../http/contract.ts';
import { clientInfoOf } from '../../http/library.ts';
import type { PressureLimit } from '../../pressure-limit/contract.ts';
import type { AddressLimits } from '../../rate-limit/contract.ts';
import { type ClientDeps, ConnectedClient } from '../clients/client.ts';
import type { ConnectionLimits, CountedConnection } from '../clients/connection-limits.ts';
import type { SocketTransport } from '../contract.ts';
import { logUnexpectedError } from '../library.ts';
import type { RealtimeEvents } from '../realtime-events.ts';
import type { RealtimeSettings } from '../settings.ts';
import type { Heartbeat } from './heartbeat.ts';
import { isOriginAllowed } from './origin.ts';
import { refuseUpgrade, type UpgradeRefusal } from './refuse-upgrade.ts';
import { ServerSocket } from './socket.ts';
import { hasCredential, offeredProtocols, queryTokenOf } from './upgrade-request.ts';

interface Deps {
  readonly settings: RealtimeSettings;
  readonly routing: Pick<RoutingService, 'contextOfUpgrade'>;
  readonly addressLimits: AddressLimits;
  readonly pressureLimit: PressureLimit;
  readonly limits: ConnectionLimits;
  readonly heartbeat: Heartbeat;
  readonly clientDeps: ClientDeps;
  readonly events: RealtimeEvents;
  readonly log: Log;
  isStopping(): boolean;
  onOpen(client: ConnectedClient, socket: ServerSocket): void;
  onRefusal(): void;
}

/** A client whose handshake is not answered yet. */
interface PreparedClient {
  readonly client: ConnectedClient;
  readonly address: string | null;
  readonly counted: CountedConnection;
  readonly transport: SocketTransport;
  setSocket(socket: ServerSocket): void;
}

/** The close code of a client that the service drops: it may come back later. */
const TRY_AGAIN_LATER = 1013;

/** The refusal of an upgrade whose credentials are wrong or cannot be checked now. */
function refusalOf(error: unknown): UpgradeRefusal {
  const { code, extensions } = error instanceof Failure ? error : fail('INVALID_CREDENTIALS');
  if (code === 'SERVICE_UNAVAILABLE')
    return { status: 503, retryAfter: typeof extensions.retryAfter === 'number' ? extensions.retryAfter : undefined };
  if (code !== 'REQUESTS_EXCEEDED') return { status: 401 };
  const wait = Date.parse(String(extensions.reset)) - Date.now();
  return { status: 429, retryAfter: Number.isNaN(wait) ? undefined : Math.max(1, Math.ceil(wait / 1000)) };
}

/** Takes connections over: `Realtime.accept`. */
export class UpgradeHandler {
  readonly #deps: Deps;
  /** The protocol that was chosen for a request. */
  readonly #protocols = new WeakMap<IncomingMessage, string>();
  readonly #server: WebSocketServer;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      // Compression costs each connection more memory than the connection itself.
      perMessageDeflate: false,
      maxPayload: deps.settings.messageSize,
      handleProtocols: (_offered, request) => this.#protocols.get(request) ?? false,
    });
  }

  async accept(request: IncomingMessage, socket: Duplex, head: Buffer, transport: SocketTransport): Promise<void> {
    const { settings, limits, routing, isStopping } = this.#deps;
    // The client may have left while its transport was loaded: nothing would give back what is counted for it.
    if (socket.destroyed) return;
    if (isStopping()) return this.#refuse(socket, { status: 503 });
    if (!isOriginAllowed(request.headers, settings.origins)) return this.#refuse(socket, { status: 403 });
    const info = clientInfoOf(routing.contextOfUpgrade(request));
    const counted = limits.take({
      ...{ transport: transport.name, limit: transport.connectionLimit, address: info.ip },
      hasCredential: hasCredential(request),
    });
    if (!counted) return this.#refuse(socket, { status: 403 });
    const prepared = this.#prepare(transport, info, counted);
    socket.once('close', () => prepared.client.close());
    const refusal = await this.#authenticate(prepared, request);
    if (refusal) {
      prepared.client.close();
      return this.#refuse(socket, refusal);
    }
    this.#server.handleUpgrade(request, socket, head, (ws) => this.#open(ws, prepared));
  }

  #refuse(socket: Duplex, refusal: UpgradeRefusal): void {
    this.#deps.onRefusal();
    refuseUpgrade(socket, refusal);
  }

  #prepare(transport: SocketTransport, info: AuthClientInfo, counted: CountedConnection): PreparedClient {
    let socket: ServerSocket | undefined;
    const client: ConnectedClient = new ConnectedClient(this.#deps.clientDeps, {
      transport: transport.name,
      info,
      counted,
      isReady: () => socket?.isReady ?? false,
      onDrop(failure) {
        if (transport.onDrop) transport.onDrop(client, failure);
        else socket?.close(TRY_AGAIN_LATER, failure.code);
      },
    });
    const setSocket = (opened: ServerSocket): void => {
      socket = opened;
    };
    return { client, address: info.ip ?? null, counted, transport, setSocket };
  }

  /** Undefined where the client may connect. */
  async #authenticate(
    { client, address, counted, transport }: PreparedClient,
    request: IncomingMessage,
  ): Promise<UpgradeRefusal | undefined> {
    const { addressLimits, pressureLimit, log } = this.#deps;
    try {
      pressureLimit.assertNotOverloaded();
      // Before the credentials: a client over its limit causes no statement.
      await addressLimits.count(address);
      await this.#presentCredential(client, request);
    } catch (error) {
      logUnexpectedError(log, error, 'the credentials of an upgrade could not be checked');
      await addressLimits.chargeFailedAuthentication(address, error);
      return refusalOf(error);
    }
    if (transport.authentication === 'strict' && !client.isAuthenticated) return { status: 401 };
    if (!client.isAuthenticated && !counted.setPublic(true)) return { status: 403 };
    const protocol = transport.protocol?.(offeredProtocols(request));
    if (protocol !== undefined) this.#protocols.set(request, protocol);
    return transport.protocol && protocol === undefined ? { status: 400 } : undefined;
  }

  /** @throws what `identity` throws for a wrong token */
  async #presentCredential(client: ConnectedClient, request: IncomingMessage): Promise<void> {
    const token = queryTokenOf(request);
    if (token !== undefined) {
      const isNamed = await client.presentToListeners({ type: 'auth', access_token: token });
      if (!isNamed) await client.present({ kind: 'token', token });
      return;
    }
    if (request.headers.cookie === undefined) return;
    const context = this.#deps.routing.contextOfUpgrade(request);
    const { user } = await client.present({ kind: 'cookie', request: context });
    // A cookie of a session that has ended is no error, since browsers keep sending it.
    if (user === null) await client.present({ kind: 'public' });
  }

  #open(ws: WebSocket, { client, transport, setSocket }: PreparedClient): void {
    const { settings, heartbeat, events, onOpen } = this.#deps;
    const socket: ServerSocket = new ServerSocket(ws, {
      messages: settings.messages,
      onReady: () => client.resume(),
      onEnd() {
        heartbeat.remove(socket);
        client.close();
        events.emit('close', client, socket);
      },
      onError: (error) => events.emit('error', client, socket, { error: error.message }),
    });
    setSocket(socket);
    heartbeat.add(socket);
    onOpen(client, socket);
    transport.open(client, socket);
    events.emit('connect', client, socket);
  }
}
