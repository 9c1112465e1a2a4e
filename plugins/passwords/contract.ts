import { type Caller, service } from '#kernel';

/**
 * The client that requests a hash or a comparison, which the fair queue counts: the user, else the network of the
 * address.
 */
export type PasswordHashRequester = Pick<Caller, 'user' | 'ip'>;

/**
 * One-way hashes of passwords: Argon2id, parameters and salt inside the text. The work is done by processes of its own, so
 * that neither the event loop nor the threads that files use are busy with it. `hash` and `verify` wait for a place.
 * @throws SERVICE_UNAVAILABLE with `retryAfter` (seconds) where too many wait, of all clients or of this one, or for too long.
 */
export interface PasswordService {
  /** A hash of the text; the same text twice has different ones. Without `client` the work is the service's own. */
  hash(text: string, client?: PasswordHashRequester): Promise<string>;
  /**
   * Hashes in this process, without waiting for a place: for the first admin, before requests are served. Starting a
   * process of low priority takes several times as long as the hash. Never for a password of a request.
   */
  hashBeforeServing(text: string): Promise<string>;
  /**
   * False for a wrong text, for a stored value that is no hash, and for null. Null takes as long as a hash of today's
   * cost, so that the time of the answer does not show whether a user exists.
   */
  verify(stored: string | null, text: string, client?: PasswordHashRequester): Promise<boolean>;
  /**
   * Whether a text is an Argon2 hash that costs at most four times as much memory or time as those made here. Ask before `verify`
   * where a client sends the hash: its text says how much memory and time the comparison takes.
   */
  accepts(hash: string): boolean;
}

/** The service for `auth`, `users` and `items`, which hashes fields of the type `hash`. */
export const passwords = service<PasswordService>('passwords', { version: '1.0.0' });
