import { service } from '#kernel';

/** Encryption of values at rest by SECRETS_ENCRYPTION_KEY (conventions, "Encryption of inline secrets"). */
export interface SecretStore {
  /** Is there a key? */
  available(): boolean;
  /** An envelope as JSON text; the same text twice gives different ones. INVALID_CONFIG without a key. `kind` is bound to it. */
  seal(kind: string, text: string): string;
  /** Undefined where it cannot be opened: another key, another kind, tampering. */
  open(kind: string, envelope: string): string | undefined;
  /** Bears the marker of an envelope, whether or not it can be opened. */
  isSealed(value: unknown): boolean;
}

export const secrets = service<SecretStore>('secrets', { version: '1.0.0' });
