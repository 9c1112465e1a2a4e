import { randomUUID } from 'node:crypto';
import { type Caller, type Failure, fail } from '#kernel';
import type { AuthClientInfo, SessionService } from '../../auth/contract.ts';
import type { AddressLimits } from '../../rate-limit/contract.ts';
import type {
  ClientCredentials as Credentials,
  RealtimeClient,
  RealtimeSubscription,
  SubscriptionRequest,
} from '../contract.ts';
import type { CountedConnection } from './connection-limits.ts';
import {
  type AuthenticationMessage,
  ClientCredentials,
  type CredentialsDeps,
  type PresentedCredential,
} from './credentials.ts';

export interface ClientDeps extends CredentialsDeps {
  readonly addressLimits: AddressLimits;
  readonly sessions: Pick<SessionService, 'signIn' | 'refresh'>;
  /** Subscriptions of one client, and of one that has not authenticated. */
  readonly limits: { readonly user: number; readonly public: number };
  subscribe(client: ConnectedClient, request: SubscriptionRequest): Promise<RealtimeSubscription>;
  onClose(client: ConnectedClient): void;
}

interface Connection {
  readonly transport: string;
  readonly info: AuthClientInfo;
  readonly counted: CountedConnection;
  isReady(): boolean;
  onDrop(failure: Failure): void;
}

/** What the engine calls when a client can take deliveries again. */
interface HeldSubscription extends RealtimeSubscription {
  drain(): void;
}

/** A client while it is connected. */
export class ConnectedClient implements RealtimeClient {
  readonly id = randomUUID();
  readonly transport: string;
  readonly subscriptions = new Set<HeldSubscription>();
  readonly #deps: ClientDeps;
  readonly #connection: Connection;
  readonly #credentials: ClientCredentials;
  #onExpired: (() => void)[] = [];
  #pending = 0;
  #isClosed = false;
  /** Since when the client has not been ready, in milliseconds since 1970; undefined while it is. */
  slowSince: number | undefined;

  constructor(deps: ClientDeps, connection: Connection) {
    this.#deps = deps;
    this.#connection = connection;
    this.transport = connection.transport;
    this.#credentials = new ClientCredentials(deps, connection.info, () => {
      this.#connection.counted.setPublic(true);
      for (const handle of this.#onExpired) handle();
    });
  }

  get isAuthenticated(): boolean {
    return !this.#credentials.isPublic;
  }

  /** Whether a listener of `websocket.authenticate` says who the client is. */
  get isNamedByListeners(): boolean {
    return this.#credentials.isNamedByListeners;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get isReady(): boolean {
    const isReady = this.#connection.isReady();
    this.slowSince = isReady ? undefined : (this.slowSince ?? Date.now());
    return isReady;
  }

  /** The caller where it is known without a question; see `caller`. */
  get knownCaller(): Caller | undefined {
    return this.#credentials.known;
  }

  async caller(): Promise<Caller> {
    try {
      return await this.#credentials.caller();
    } catch (error) {
      this.#connection.counted.setPublic(this.#credentials.isPublic);
      throw error;
    }
  }

  async present(credential: PresentedCredential): Promise<Caller> {
    const caller = await this.#credentials.present(credential);
    this.#connection.counted.setPublic(this.#credentials.isPublic);
    return caller;
  }

  async authenticateByListeners(message: AuthenticationMessage): Promise<boolean> {
    await this.#deps.addressLimits.count(this.#address);
    try {
      return await this.presentToListeners(message);
    } catch (error) {
      await this.#deps.addressLimits.chargeFailedAuthentication(this.#address, error);
      throw error;
    }
  }

  /** `authenticateByListeners` for a message that was counted before. */
  async presentToListeners(message: AuthenticationMessage): Promise<boolean> {
    try {
      const isNamed = await this.#credentials.presentToListeners(message);
      if (isNamed) this.#connection.counted.setPublic(false);
      return isNamed;
    } catch (error) {
      this.#forget();
      throw error;
    }
  }

  async authenticate(credentials: Credentials): Promise<{ readonly refreshToken?: string }> {
    try {
      if ('token' in credentials) {
        await this.present({ kind: 'token', token: credentials.token });
        return {};
      }
      const anyone = await this.#deps.identity.ofPublic(this.#connection.info);
      const { accessToken, refreshToken } =
        'refreshToken' in credentials
          ? await this.#deps.sessions.refresh(anyone, credentials.refreshToken)
          : await this.#deps.sessions.signIn(anyone, credentials);
      await this.present({ kind: 'token', token: accessToken });
      return { refreshToken };
    } catch (error) {
      this.#forget();
      await this.#deps.addressLimits.chargeFailedAuthentication(this.#address, error);
      throw error;
    }
  }

  get #address(): string | null {
    return this.#connection.info.ip ?? null;
  }

  #forget(): void {
    this.#credentials.forget();
    this.#connection.counted.setPublic(true);
  }

  onExpired(handle: () => void): void {
    this.#onExpired = [...this.#onExpired, handle];
  }

  async subscribe(request: SubscriptionRequest): Promise<RealtimeSubscription> {
    const { user, public: ofPublic } = this.#deps.limits;
    const limit = this.isAuthenticated ? user : ofPublic;
    if (this.subscriptions.size + this.#pending >= limit)
      throw fail('REQUESTS_EXCEEDED', `a client may have ${limit} subscriptions`);
    this.#pending++;
    try {
      return await this.#deps.subscribe(this, request);
    } finally {
      this.#pending--;
    }
  }

  resume(): void {
    for (const one of this.subscriptions) {
      if (!this.isReady) return;
      one.drain();
    }
  }

  /** Ends the client from this side. */
  drop(failure: Failure): void {
    if (this.#isClosed) return;
    this.close();
    this.#connection.onDrop(failure);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#credentials.stop();
    for (const one of this.subscriptions) one.end();
    this.#connection.counted.release();
    this.#deps.onClose(this);
  }
}
