import { service } from '#kernel';

/** One-way hashes for what people type: Argon2id, parameters and salt inside the text. */
export interface Passwords {
  hash(text: string): Promise<string>;
  /** False for a wrong text and for a stored value that is no hash. */
  verify(hash: string, text: string): Promise<boolean>;
}

export const passwords = service<Passwords>('passwords', { version: '1.0.0' });
