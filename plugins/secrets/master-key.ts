import { hkdfSync } from 'node:crypto';
import { BootFailure } from '#kernel';

/** What the operator's key is used for: values are sealed with keys derived from it, never with itself. */
export interface MasterKey {
  /** Tells keys apart without telling anything about them. */
  readonly id: string;
  /** 32 bytes for one value. */
  derive(salt: Buffer): Buffer;
}

const MIN_BYTES = 32;
const NO_SALT = Buffer.alloc(0);

/** From SECRETS_ENCRYPTION_KEY; undefined where it is unset. A malformed one stops the start (conventions, "Encryption of inline secrets"). */
export function parseMasterKey(setting: string | undefined): MasterKey | undefined {
  const text = setting?.trim() ?? '';
  if (text === '') return undefined;
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw createKeyFailure('is not canonical base64');
  if (bytes.length < MIN_BYTES) throw createKeyFailure(`has ${bytes.length} bytes: at least ${MIN_BYTES} are needed`);
  const derived = (salt: Buffer, purpose: string, length: number) =>
    Buffer.from(hkdfSync('sha256', bytes, salt, purpose, length));
  return {
    id: derived(NO_SALT, 'service secret: key id', 6).toString('base64url'),
    derive: (salt) => derived(salt, 'service secret: value', 32),
  };
}

/** Without the value, and without any part of it. */
const createKeyFailure = (what: string) =>
  new BootFailure('@tenon/secrets', 'config', `SECRETS_ENCRYPTION_KEY ${what}`, {
    remedy: 'set it to the base64 of 32 random bytes (openssl rand -base64 32), or unset it',
  });
