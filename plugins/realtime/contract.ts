import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Caller, type Failure, service } from '#kernel';
import type { AuthClientInfo } from '../auth/contract.ts';
import type { RawQuery, RowSelection } from '../query/contract.ts';

/** What happened to a row. */
export type RowEvent = 'create' | 'update' | 'delete';

/** When a client of a socket has to authenticate (conventions, "Authentication modes"). */
export type SocketAuthentication = 'public' | 'handshake' | 'strict';

/**
 * The service `realtime`: clients that stay connected, and their subscriptions to rows. Transports (REST-style socket, GraphQL, logs)
 * translate its deliveries into their messages. With WEBSOCKETS_ENABLED off `isEnabled` is false, and the other methods throw
 * SERVICE_UNAVAILABLE.
 */
export interface Realtime {
  readonly isEnabled: boolean;
  /** Seconds between two heartbeats; false where WEBSOCKETS_HEARTBEAT_ENABLED is off. For `/server/info`. */
  readonly heartbeat: number | false;
  /**
   * Takes over the connection of an upgrade: checks the origin (403), the limits of connections (403), the limit of requests of the
   * address (429) and the credentials of the request (401), answers the handshake, and calls `transport.open`. Never throws; a refused connection gets its status and is closed.
   */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, transport: SocketTransport): Promise<void>;
  /**
   * A client without a socket, for example of server-sent events. It counts for the limits of connections until `close`.
   * @throws REQUESTS_EXCEEDED where the limits are reached, and the errors of `identity.ofToken`.
   */
  connect(options: ClientOptions): Promise<RealtimeClient>;
  /** What this process holds and has done. */
  metrics(): RealtimeMetrics;
}

/** A protocol on top of sockets. */
export interface SocketTransport {
  /** For logs and events: `rest`, `graphql`, `logs`. */
  readonly name: string;
  /** `strict` refuses an upgrade without valid credentials by 401. A wrong token in the upgrade is 401 in every mode. */
  readonly authentication: SocketAuthentication;
  /** Connections of this transport; undefined is no limit but that of all. */
  readonly connectionLimit?: number | undefined;
  /** Chooses the sub-protocol among those offered; undefined refuses the upgrade by 400. Without it none is chosen. */
  protocol?(offered: ReadonlySet<string>): string | undefined;
  /**
   * The service ends a client whose credentials no longer hold or that stays too slow; its subscriptions have ended. The transport says so
   * and closes the socket. Default: the socket is closed with 1013.
   */
  onDrop?(client: RealtimeClient, failure: Failure): void;
  /** Called with each new client, before its first message is read. */
  open(client: RealtimeClient, socket: RealtimeSocket): void;
}

/** The socket of a client: texts in, texts out. Frames that are not text, too large or too many never reach `onMessage`. */
export interface RealtimeSocket {
  /** The chosen sub-protocol; empty for none. */
  readonly protocol: string;
  /** Sends a text, or a buffer that holds one: a buffer may be shared by many sockets. Resolves when the operating system has it. */
  send(message: string | Buffer): Promise<void>;
  /** Closes with a code and a reason; the client of the socket is closed too. Default code: none. */
  close(code?: number, reason?: string): void;
  /** Whether less waits to be sent than a slow client may hold back (64 KiB). */
  readonly isReady: boolean;
  /** Calls `handle` with each text, whether earlier ones are done or not. `createMessageQueue` of the library handles one after the other. */
  onMessage(handle: (text: string) => void): void;
  /**
   * Calls `handle` with the failure of what is refused before `onMessage`: a binary frame, and more messages than
   * WEBSOCKETS_MESSAGES_LIMIT. Too large a frame closes the socket with 1009.
   */
  onRefused(handle: (failure: Failure) => void): void;
  onClose(handle: (code: number, reason: string) => void): void;
  /** Calls `handle` each heartbeat period. A client that sends no message until the next one is closed. */
  onHeartbeat(handle: () => void): void;
}

/** What `connect` needs to know of a client. */
export interface ClientOptions {
  readonly transport: string;
  readonly connectionLimit?: number | undefined;
  readonly client: AuthClientInfo;
  /** An access token or a static token; without one the client is the public. */
  readonly token?: string | undefined;
  /** Whether the client can take a delivery now. Default: always. */
  isReady?(): boolean;
  /** The client is dropped: `failure` says why (its credentials, or that it is too slow). Its subscriptions have ended. */
  onDrop(failure: Failure): void;
}

/** By what a client authenticates after it has connected. */
export type ClientCredentials =
  | { readonly token: string }
  | { readonly refreshToken: string }
  | { readonly email: string; readonly password: string; readonly otp?: string };

/** A connected client: who it is at any moment, and what it is subscribed to. */
export interface RealtimeClient {
  /** A uuid. */
  readonly id: string;
  readonly transport: string;
  /** Whether the client has presented valid credentials that have not expired. */
  readonly isAuthenticated: boolean;
  /**
   * The caller with the role, status and flags of this moment. Call it for each message. Where nothing was announced since the last call
   * it runs no statement.
   * @throws TOKEN_EXPIRED, INVALID_CREDENTIALS, USER_SUSPENDED, INVALID_IP: the credentials no longer hold.
   */
  caller(): Promise<Caller>;
  /**
   * Replaces the credentials. Subscriptions go on, with the rights of the new caller. Answers a new refresh token where the
   * credentials were an e-mail address or a refresh token.
   * @throws what the sign-in throws; the client then is the public, and its address is charged for failed authentication.
   */
  authenticate(credentials: ClientCredentials): Promise<{ readonly refreshToken?: string }>;
  /**
   * Replaces the credentials where a listener of `websocket.authenticate` names a caller for the message, and answers whether one does.
   * Ask before `authenticate`: it counts the message like a request. @throws REQUESTS_EXCEEDED over the limit of the address, and what
   * listeners throw; then the client is the public.
   */
  authenticateByListeners(message: Readonly<Record<string, unknown>>): Promise<boolean>;
  /** Calls `handle` when the access token expires. The client is the public from then on. */
  onExpired(handle: () => void): void;
  /**
   * Subscribes to rows of a collection. The first delivery is `init` (or `resync`, see `since`), before the promise resolves.
   * @throws FORBIDDEN for a collection that the caller may not read or that does not exist, INVALID_QUERY, INVALID_PAYLOAD for a
   * collection whose changes are not announced (views, tables without a key), REQUESTS_EXCEEDED for more subscriptions than
   * WEBSOCKETS_SUBSCRIPTIONS_LIMIT, SERVICE_UNAVAILABLE.
   */
  subscribe(request: SubscriptionRequest): Promise<RealtimeSubscription>;
  /** Call it when the client can take deliveries again after `isReady` was false. */
  resume(): void;
  /** Ends all subscriptions and stops counting the client. */
  close(): void;
}

/** What a client wants to know. */
export interface SubscriptionRequest {
  readonly collection: string;
  /** Only this event. Default: all. */
  readonly event?: RowEvent | undefined;
  /** Only the row of this key, as text. */
  readonly item?: string | undefined;
  /**
   * Fields, filter and search of deliveries; sort, limit and meta also apply to `init`. Default: all fields of all rows. Aggregates are
   * INVALID_QUERY.
   */
  readonly query?: RawQuery | undefined;
  /** In place of `query`: what to read of each row. The same `text` always means the same selection. */
  readonly selection?: { readonly text: string; readonly rows: RowSelection } | undefined;
  /** Announces a row that an update moves out of the filter or out of the row rules as `delete`. Default false. */
  readonly leaving?: boolean | undefined;
  /**
   * Delivers the rows of `query` first; with `item` that row itself, or FORBIDDEN where it cannot be read, and null in a `resync`. Not
   * for a `selection`. Default false.
   */
  readonly init?: boolean | undefined;
  /**
   * The `position` of the last delivery that the client has handled, in this process or another one. `init` has no data then, and what
   * followed is delivered; or `resync` comes first, where that is no longer known.
   */
  readonly since?: string | undefined;
  /**
   * Takes a delivery. Called only while the client is ready; meanwhile changes of one row are merged. All subscriptions with equal rights
   * and query get the same `Delivery` object, so texts made of it can be kept by it.
   */
  deliver(delivery: Delivery, sequence: number): void;
  /** The subscription has ended by itself: the collection or a field of the query is gone, or the caller lost all rights to it. */
  onEnd(failure: Failure): void;
}

/** One subscription of a client. */
export interface RealtimeSubscription {
  end(): void;
}

/** One row of a delivery. */
export interface DeliveredRow {
  /** The key as text. */
  readonly key: string;
  /** The key as JSON: a number or a text. */
  readonly json: string;
  /** JSON text of the row; undefined for `delete`. */
  readonly text: string | undefined;
}

/**
 * What a subscription gets. `position` can be passed as `since` later. Changes that are read together have the new position in their last
 * delivery only, so that those behind a lost one are delivered again. `sequence` of `deliver` counts the deliveries of one subscription
 * from 1.
 */
export type Delivery =
  /** The subscription has begun. With `init` the rows of the query now, as JSON texts like those of `GET /items`. */
  | {
      readonly kind: 'init';
      readonly data: string | undefined;
      readonly meta: string | null;
      readonly position: string;
    }
  /** Rows in the order of their changes. Each row is as it is now, with the rights of the caller. */
  | {
      readonly kind: 'change';
      readonly event: RowEvent;
      readonly rows: readonly DeliveredRow[];
      readonly position: string;
    }
  /** Changes were missed: the client has to read again. With `init` requested, a fresh `data` is part of it. */
  | {
      readonly kind: 'resync';
      readonly data: string | undefined;
      readonly meta: string | null;
      readonly position: string;
    };

/** Counts of this process; those of events since its start. */
export interface RealtimeMetrics {
  readonly connections: number;
  readonly subscriptions: number;
  /** Different questions: subscriptions with equal rights and query are one. */
  readonly groups: number;
  /** Changes of rows that were announced, by statement. */
  readonly changes: number;
  /** Deliveries to subscriptions. */
  readonly deliveries: number;
  /** Statements that read changed rows. */
  readonly reads: number;
  readonly resyncs: number;
  /** Clients that were closed because they were too slow. */
  readonly drops: number;
  /** Connections that were refused. */
  readonly refusals: number;
  /** Milliseconds from the announcement of a change to its last delivery: of the latest change, and the largest of the last minute. */
  readonly lag: { readonly last: number; readonly max: number };
}

/** For plugins that carry subscriptions to clients. With it a plugin acts as the clients that connect. */
export const realtime = service<Realtime>('realtime', { version: '1.0.0', coreOnly: true });
