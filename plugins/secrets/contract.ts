import { service } from '#kernel';

/** Encryption of values at rest by SECRETS_ENCRYPTION_KEY (conventions, "Encryption of inline secrets"). */
export interface SecretCipher {
  /** Whether SECRETS_ENCRYPTION_KEY is set. */
  available(): boolean;
  /**
   * Encrypts a text and answers an envelope as JSON text; the same text twice gives different envelopes. `kind` is bound to the
   * envelope: `open` needs the same.
   * @throws INVALID_CONFIG without a key.
   */
  seal(kind: string, text: string): string;
  /** Decrypts an envelope; undefined where it was made with another key or another kind, or was changed. */
  open(kind: string, envelope: string): string | undefined;
  /** Whether the value has the marker of an envelope, also when it cannot be opened. */
  isSealed(value: unknown): boolean;
}

/** The service that encrypts secrets, for plugins that store them. */
export const secrets = service<SecretCipher>('secrets', { version: '1.0.0' });
