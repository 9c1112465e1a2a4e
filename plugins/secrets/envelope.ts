/** The envelope that is stored in place of a secret. Binary members are base64. */
export interface SecretEnvelope {
  readonly $sealed: 1;
  readonly kind: string;
  readonly v: 1;
  readonly alg: 'A256GCM-HKDF';
  /** Id of the key that encrypted the value. */
  readonly kid: string;
  readonly salt: string;
  readonly iv: string;
  readonly ct: string;
  readonly tag: string;
}

export const SECRET_ENVELOPE_MARKER = '$sealed';

/** Bytes of the members of an envelope that have a fixed length. */
export const SECRET_ENVELOPE_BYTE_LENGTHS = { salt: 16, iv: 12, tag: 16 } as const;

/** Whether the value has the marker of an envelope, also of a damaged one, so that none is shown like an ordinary value. */
export function hasSecretEnvelopeMarker(value: unknown): boolean {
  if (typeof value !== 'string')
    return typeof value === 'object' && value !== null && Object.hasOwn(value, SECRET_ENVELOPE_MARKER);
  if (!value.includes(SECRET_ENVELOPE_MARKER)) return false;
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'object' && parsed !== null && Object.hasOwn(parsed, SECRET_ENVELOPE_MARKER);
  } catch {
    return /^\s*\{\s*"\$sealed"/.test(value);
  }
}

/** Parses an envelope; undefined for every other text. */
export function parseSecretEnvelope(text: string): SecretEnvelope | undefined {
  let parsed: Partial<Record<keyof SecretEnvelope, unknown>> | null;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  const { $sealed, v, alg, kind, kid, salt, iv, ct, tag } = parsed;
  const isKnown = $sealed === 1 && v === 1 && alg === 'A256GCM-HKDF';
  return isKnown && [kind, kid, salt, iv, ct, tag].every((one) => typeof one === 'string')
    ? (parsed as SecretEnvelope)
    : undefined;
}
