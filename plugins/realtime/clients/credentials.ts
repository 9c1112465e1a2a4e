import { type Caller, Failure, fail } from '#kernel';
import type { AuthClientInfo, CallerProvider } from '../../auth/contract.ts';
import type { HttpContext } from '../../http/contract.ts';
import type { RightsVersion } from './rights-version.ts';
import { tokenExpiryOf } from './token-expiry.ts';

export interface CredentialsDeps {
  readonly identity: Pick<CallerProvider, 'ofToken' | 'ofPublic' | 'ofSessionCookie' | 'ofSocketMessage'>;
  readonly rights: RightsVersion;
}

/** A message by which a client authenticates, as it was received. */
export type AuthenticationMessage = Readonly<Record<string, unknown>>;

/** What a client has presented. A session cookie comes with the request that brought it; a message is one that a listener accepted. */
export type PresentedCredential =
  | { readonly kind: 'public' }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'cookie'; readonly request: HttpContext }
  | { readonly kind: 'message'; readonly message: AuthenticationMessage };

const PUBLIC: PresentedCredential = { kind: 'public' };
/** Sessions of cookies and shares may end without an announcement, and listeners announce nothing, so these are looked at again after this many milliseconds. */
const RECHECK_AFTER = 10_000;
const TIMED: ReadonlySet<PresentedCredential['kind']> = new Set(['cookie', 'message']);
const LONGEST_TIMER = 2_147_483_647;

/** Who a client is, by the credential that it presented last, at any moment. */
export class ClientCredentials {
  readonly #deps: CredentialsDeps;
  readonly #client: AuthClientInfo;
  readonly #onExpired: () => void;
  #credential: PresentedCredential = PUBLIC;
  #caller: Caller | undefined;
  #version = 0;
  #checkedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: CredentialsDeps, client: AuthClientInfo, onExpired: () => void) {
    this.#deps = deps;
    this.#client = client;
    this.#onExpired = onExpired;
  }

  get isPublic(): boolean {
    return this.#credential.kind === 'public';
  }

  get isNamedByListeners(): boolean {
    return this.#credential.kind === 'message';
  }

  /** The caller, where nothing was announced since it was checked. */
  get known(): Caller | undefined {
    if (this.#caller === undefined || this.#version !== this.#deps.rights.current()) return undefined;
    const isTimed = TIMED.has(this.#credential.kind) || this.#caller.share;
    return isTimed && Date.now() - this.#checkedAt > RECHECK_AFTER ? undefined : this.#caller;
  }

  /** Replaces the credential. @throws what `identity` throws; the credential is unchanged then. */
  async present(credential: PresentedCredential): Promise<Caller> {
    const version = this.#deps.rights.current();
    const caller = await this.#callerOf(credential);
    this.#credential = credential;
    this.#set(caller, version);
    this.#watchExpiry(credential);
    return caller;
  }

  /** Takes the caller whom a listener names for a message. False where none does; the credential is unchanged then. @throws as `present` */
  async presentToListeners(message: AuthenticationMessage): Promise<boolean> {
    const version = this.#deps.rights.current();
    const caller = await this.#deps.identity.ofSocketMessage(message, this.#client);
    if (!caller) return false;
    this.stop();
    this.#credential = { kind: 'message', message };
    this.#set(caller, version);
    return true;
  }

  /** @throws what `identity` throws; the client is the public from then on, and an expired credential is announced. */
  async caller(): Promise<Caller> {
    const { known } = this;
    if (known) return known;
    const version = this.#deps.rights.current();
    const credential = this.#credential;
    try {
      const caller = await this.#callerOf(credential);
      if (credential === this.#credential) this.#set(caller, version);
      return caller;
    } catch (error) {
      // A database that is away says nothing about the credential.
      const isRefused = error instanceof Failure && error.code !== 'SERVICE_UNAVAILABLE';
      if (isRefused && credential === this.#credential) {
        this.forget();
        if (error.code === 'TOKEN_EXPIRED') this.#onExpired();
      }
      throw error;
    }
  }

  /** The client is the public from now on. */
  forget(): void {
    this.#credential = PUBLIC;
    this.#caller = undefined;
    this.stop();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #callerOf(credential: PresentedCredential): Promise<Caller> {
    const { identity } = this.#deps;
    switch (credential.kind) {
      case 'token':
        return identity.ofToken(credential.token, this.#client);
      case 'public':
        return identity.ofPublic(this.#client);
      case 'cookie':
        return (await identity.ofSessionCookie(credential.request)) ?? identity.ofPublic(this.#client);
      case 'message': {
        const caller = await identity.ofSocketMessage(credential.message, this.#client);
        if (!caller) throw fail('INVALID_CREDENTIALS', 'no listener names a caller for the credentials any longer');
        return caller;
      }
    }
  }

  #set(caller: Caller, version: number): void {
    this.#caller = caller;
    this.#version = version;
    this.#checkedAt = Date.now();
  }

  #watchExpiry(credential: PresentedCredential): void {
    this.stop();
    const expiry = credential.kind === 'token' ? tokenExpiryOf(credential.token) : undefined;
    if (expiry === undefined) return;
    const look = () => {
      // A timer is shorter than some tokens are valid.
      if (Date.now() < expiry) return this.#watchExpiry(credential);
      this.forget();
      this.#onExpired();
    };
    this.#timer = setTimeout(look, Math.min(Math.max(0, expiry - Date.now()), LONGEST_TIMER)).unref();
  }
}
