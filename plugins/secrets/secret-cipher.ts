import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { fail } from '#kernel';
import type { SecretCipher } from './contract.ts';
import {
  hasSecretEnvelopeMarker,
  parseSecretEnvelope,
  SECRET_ENVELOPE_BYTE_LENGTHS,
  type SecretEnvelope,
} from './envelope.ts';
import type { MasterKey } from './master-key.ts';

const CIPHER = 'aes-256-gcm';

/** The kind is authenticated data: an envelope that is copied to another kind of value cannot be opened there. */
const associatedData = (kind: string, version: number): Buffer => Buffer.from(`${version}/${kind}`);

/** Creates the store of secrets: AES-256-GCM with a derived key for each value. */
export function createSecretCipher(key: MasterKey | undefined): SecretCipher {
  return {
    available: () => key !== undefined,
    seal(kind, text) {
      if (!key) throw fail('INVALID_CONFIG', 'SECRETS_ENCRYPTION_KEY is not set: secrets cannot be stored');
      const salt = randomBytes(SECRET_ENVELOPE_BYTE_LENGTHS.salt);
      const iv = randomBytes(SECRET_ENVELOPE_BYTE_LENGTHS.iv);
      const cipher = createCipheriv(CIPHER, key.derive(salt), iv).setAAD(associatedData(kind, 1));
      const ct = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      const envelope: SecretEnvelope = {
        $sealed: 1,
        kind,
        v: 1,
        alg: 'A256GCM-HKDF',
        kid: key.id,
        salt: salt.toString('base64'),
        iv: iv.toString('base64'),
        ct: ct.toString('base64'),
        tag: cipher.getAuthTag().toString('base64'),
      };
      return JSON.stringify(envelope);
    },
    open(kind, text) {
      const envelope = parseSecretEnvelope(text);
      if (!key || envelope?.kind !== kind || envelope.kid !== key.id) return undefined;
      const [salt, iv, ct, tag] = (['salt', 'iv', 'ct', 'tag'] as const).map((one) =>
        Buffer.from(envelope[one], 'base64'),
      ) as [Buffer, Buffer, Buffer, Buffer];
      // Node would accept a shorter tag, which is easier to forge.
      if (
        salt.length !== SECRET_ENVELOPE_BYTE_LENGTHS.salt ||
        iv.length !== SECRET_ENVELOPE_BYTE_LENGTHS.iv ||
        tag.length !== SECRET_ENVELOPE_BYTE_LENGTHS.tag
      )
        return undefined;
      try {
        const decipher = createDecipheriv(CIPHER, key.derive(salt), iv, {
          authTagLength: SECRET_ENVELOPE_BYTE_LENGTHS.tag,
        });
        decipher.setAAD(associatedData(kind, envelope.v)).setAuthTag(tag);
        return Buffer.concat([decipher.update(ct), decipher.final()]).toString('utf8');
      } catch {
        return undefined;
      }
    },
    isSealed: hasSecretEnvelopeMarker,
  };
}
