import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { fail } from '#kernel';
import type { SealedValues } from './contract.ts';
import type { TokenSecrets } from './token-secrets.ts';

const SALT_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The clear text is filled up to a multiple of this, so that its length does not tell that of a password. */
const BLOCK = 512;
/** Characters; a longer text is none of ours. */
const MAX_LENGTH = 16_384;

/**
 * Seals values by AES-256-GCM. Each has a key of its own, made of the secret that signs tokens, a random salt and the purpose. Purpose
 * and holder are authenticated, so that a value is opened for both alone.
 */
export function createSealedValues(secrets: () => TokenSecrets): SealedValues {
  return {
    seal(purpose, holder, value, lifetime) {
      const salt = randomBytes(SALT_BYTES);
      const nonce = randomBytes(NONCE_BYTES);
      const text = Buffer.from(JSON.stringify({ expires: Date.now() + lifetime, value }));
      const filled = Buffer.alloc(Math.ceil(text.length / BLOCK) * BLOCK, ' ');
      text.copy(filled);
      const cipher = createCipheriv('aes-256-gcm', deriveKey(secrets().current, salt, purpose), nonce);
      cipher.setAAD(Buffer.from(holder));
      const sealed = Buffer.concat([cipher.update(filled), cipher.final()]);
      return Buffer.concat([salt, nonce, cipher.getAuthTag(), sealed]).toString('base64url');
    },

    open(purpose, holder, text) {
      const bytes = Buffer.from(text.length > MAX_LENGTH ? '' : text, 'base64url');
      const { current, previous } = secrets();
      for (const secret of [current, ...previous]) {
        const clear = decrypt(bytes, secret, purpose, holder);
        if (clear === undefined) continue;
        const { expires, value } = JSON.parse(clear) as { expires: number; value: unknown };
        if (expires <= Date.now()) throw fail('TOKEN_EXPIRED', 'the sealed value is too old');
        return value;
      }
      throw fail('INVALID_TOKEN', 'the sealed value cannot be opened');
    },
  };
}

const deriveKey = (secret: string, salt: Uint8Array, purpose: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, salt, `sealed value: ${purpose}`, 32));

/** The clear text; undefined where secret, purpose or holder is another one, or the bytes were changed. */
function decrypt(bytes: Buffer, secret: string, purpose: string, holder: string): string | undefined {
  const [salt, nonce, tag, sealed] = [
    bytes.subarray(0, SALT_BYTES),
    bytes.subarray(SALT_BYTES, SALT_BYTES + NONCE_BYTES),
    bytes.subarray(SALT_BYTES + NONCE_BYTES, SALT_BYTES + NONCE_BYTES + TAG_BYTES),
    bytes.subarray(SALT_BYTES + NONCE_BYTES + TAG_BYTES),
  ];
  if (sealed.length === 0) return undefined;
  try {
    const decipher = createDecipheriv('aes-256-gcm', deriveKey(secret, salt, purpose), nonce, {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(holder)).setAuthTag(tag);
    return Buffer.concat([decipher.update(sealed), decipher.final()]).toString();
  } catch {
    return undefined;
  }
}
