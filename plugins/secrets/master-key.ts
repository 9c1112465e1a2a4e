import { hkdfSync } from 'node:crypto';
import { BootFailure } from '#kernel';

/** The key that the operator sets, or that a plugin keeps. Values are encrypted with keys derived from it, never with the key itself. */
export interface MasterKey {
  /** An id that distinguishes keys without revealing anything about them. */
  readonly id: string;
  /** Derives the key of one value, 32 bytes. */
  derive(salt: Buffer): Buffer;
}

const MIN_BYTES = 32;
const NO_SALT = Buffer.alloc(0);

/**
 * Parses SECRETS_ENCRYPTION_KEY; undefined where it is unset. A malformed key stops the start (conventions, "Encryption of inline
 * secrets").
 */
export function parseMasterKey(setting: string | undefined): MasterKey | undefined {
  const text = setting?.trim() ?? '';
  if (text === '') return undefined;
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw createKeyFailure('is not canonical base64');
  if (bytes.length < MIN_BYTES) throw createKeyFailure(`has ${bytes.length} bytes: at least ${MIN_BYTES} are needed`);
  return createMasterKey(bytes);
}

/** The master key of random bytes. */
export function createMasterKey(bytes: Buffer): MasterKey {
  const derived = (salt: Buffer, purpose: string, length: number) =>
    Buffer.from(hkdfSync('sha256', bytes, salt, purpose, length));
  return {
    id: derived(NO_SALT, 'service secret: key id', 6).toString('base64url'),
    derive: (salt) => derived(salt, 'service secret: value', 32),
  };
}

/** The failure for a malformed key. Its message contains no part of the key. */
const createKeyFailure = (what: string) =>
  new BootFailure('@tenon/secrets', 'config', `SECRETS_ENCRYPTION_KEY ${what}`, {
    remedy: 'set it to the base64 of 32 random bytes (openssl rand -base64 32), or unset it',
  });
