import { service } from '#kernel';

/** One-way hashes for what people type: Argon2id, parameters and salt inside the text. */
export interface Passwords {
  /** A hash of the text; the same text twice has different ones. Costly on purpose; the work is done outside of the event loop. */
  hash(text: string): Promise<string>;
  /** False for a wrong text and for a stored value that is no hash. */
  verify(hash: string, text: string): Promise<boolean>;
}

/** For `auth`, `users` and `items`, which hashes fields of the type `hash`. */
export const passwords = service<Passwords>('passwords', { version: '1.0.0' });
