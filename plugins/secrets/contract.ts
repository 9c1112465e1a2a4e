import { service } from '#kernel';

/** Encryption of values at rest by SECRETS_ENCRYPTION_KEY (conventions, "Encryption of inline secrets"). */
export interface SecretStore {
  /** Whether SECRETS_ENCRYPTION_KEY is set. */
  available(): boolean;
  /**
   * An envelope as JSON text; the same text twice gives different ones. `kind` is bound to it: `open` needs the same.
   * @throws INVALID_CONFIG without a key.
   */
  seal(kind: string, text: string): string;
  /** Undefined where it cannot be opened: another key, another kind, tampering. */
  open(kind: string, envelope: string): string | undefined;
  /** Whether the value has the marker of an envelope; it need not be one that can be opened. */
  isSealed(value: unknown): boolean;
}

/** For plugins that store secrets. */
export const secrets = service<SecretStore>('secrets', { version: '1.0.0' });
