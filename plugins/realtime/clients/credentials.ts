import { type Caller, Failure } from '#kernel';
import type { AuthClientInfo, CallerProvider } from '../../auth/contract.ts';
import type { HttpContext } from '../../http/contract.ts';
import type { RightsVersion } from './rights-version.ts';
import { tokenExpiryOf } from './token-expiry.ts';

export interface CredentialsDeps {
  readonly identity: Pick<CallerProvider, 'ofToken' | 'ofPublic' | 'ofSessionCookie'>;
  readonly rights: RightsVersion;
}

/** What a client has presented. A session cookie comes with the request that brought it. */
export type PresentedCredential =
  | { readonly kind: 'public' }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'cookie'; readonly request: HttpContext };

const PUBLIC: PresentedCredential = { kind: 'public' };
/** Sessions of cookies and shares may end without an announcement, so these are looked at again after this many milliseconds. */
const RECHECK_AFTER = 10_000;
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

  /** The caller, where nothing was announced since it was checked. */
  get known(): Caller | undefined {
    if (this.#caller === undefined || this.#version !== this.#deps.rights.current()) return undefined;
    const isTimed = this.#credential.kind === 'cookie' || this.#caller.share;
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

  /** @throws what `identity` throws; the client is the public from then on. */
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
      if (isRefused && credential === this.#credential) this.forget();
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

  #callerOf(credential: PresentedCredential): Promise<Caller> {
    const { identity } = this.#deps;
    if (credential.kind === 'token') return identity.ofToken(credential.token, this.#client);
    if (credential.kind === 'public') return identity.ofPublic(this.#client);
    return identity.ofSessionCookie(credential.request).then((caller) => caller ?? identity.ofPublic(this.#client));
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
