import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A passkey of the software authenticator, with its private key. */
export interface SoftwarePasskey {
  /** Base64url. */
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly userHandle: string;
  counter: number;
}

/** What a response has instead of what an honest authenticator and browser send. */
export interface ResponseChanges {
  readonly type?: string;
  readonly origin?: string;
  readonly challenge?: string;
  /** Further members of the client data. */
  readonly clientData?: Readonly<Record<string, unknown>>;
  /** The whole text of the client data. */
  readonly clientDataText?: string;
  readonly rpId?: string;
  readonly flags?: number;
  readonly counter?: number;
  readonly id?: string;
  readonly userHandle?: string;
  /** The public key in the form of COSE. */
  readonly publicKey?: CborValue;
  readonly attestation?: CborValue;
  /** Bytes behind the authenticator data. */
  readonly trailer?: Uint8Array;
  /** Whose key signs. */
  readonly signer?: KeyObject;
  readonly signature?: (signature: Buffer) => Buffer;
  /** Members of the credential that are sent besides, or instead. */
  readonly credential?: Readonly<Record<string, unknown>>;
  /** Members of `response` that are sent besides, or instead. */
  readonly response?: Readonly<Record<string, unknown>>;
}

export type CborValue = number | string | Uint8Array | readonly CborValue[] | ReadonlyMap<CborValue, CborValue>;

export const FLAGS = { present: 0x01, verified: 0x04, synced: 0x08, backedUp: 0x10, withKey: 0x40 } as const;

/** The members of options that an authenticator uses. */
interface Options {
  readonly challenge: string;
  readonly user?: { readonly id: string };
}

/** Browser and authenticator in one: makes passkeys of ES256 without attestation, and signs in by them. */
export interface SoftwareAuthenticator {
  register(
    options: Options,
    changes?: ResponseChanges,
  ): { readonly passkey: SoftwarePasskey; readonly credential: Record<string, unknown> };
  signIn(options: Options, passkey: SoftwarePasskey, changes?: ResponseChanges): Record<string, unknown>;
}

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();
const base64url = (data: Uint8Array | string) => Buffer.from(data as Uint8Array).toString('base64url');

/** The public key of an elliptic curve as COSE, of ES256. */
export function coseKeyOf(publicKey: KeyObject): Map<number, CborValue> {
  const { x, y } = publicKey.export({ format: 'jwk' }) as { x: string; y: string };
  return new Map<number, CborValue>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, Buffer.from(x, 'base64url')],
    [-3, Buffer.from(y, 'base64url')],
  ]);
}

export function createSoftwareAuthenticator(origin: string, rpId: string): SoftwareAuthenticator {
  function clientDataOf(type: string, { challenge }: Options, changes: ResponseChanges): string {
    const data = { type, challenge, origin, crossOrigin: false, ...pick(changes, ['type', 'challenge', 'origin']) };
    return changes.clientDataText ?? JSON.stringify({ ...data, ...changes.clientData });
  }

  function authenticatorData(flags: number, counter: number, changes: ResponseChanges, attested: Uint8Array[] = []) {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(changes.counter ?? counter);
    const hash = sha256(changes.rpId ?? rpId);
    return Buffer.concat([
      hash,
      Buffer.from([changes.flags ?? flags]),
      count,
      ...attested,
      changes.trailer ?? Buffer.alloc(0),
    ]);
  }

  return {
    register(options, changes = {}) {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const id = changes.id ?? base64url(randomBytes(32));
      const bytes = Buffer.from(id, 'base64url');
      const length = Buffer.alloc(2);
      length.writeUInt16BE(bytes.length);
      const key = encodeCbor(changes.publicKey ?? coseKeyOf(publicKey));
      const flags = FLAGS.present | FLAGS.verified | FLAGS.withKey;
      const authData = authenticatorData(flags, 0, changes, [Buffer.alloc(16), length, bytes, key]);
      const attestation =
        changes.attestation ??
        new Map<CborValue, CborValue>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
        ]);
      const attestationObject = encodeCbor(
        new Map([...(attestation as Map<CborValue, CborValue>), ['authData', authData]]),
      );
      const response = {
        clientDataJSON: base64url(clientDataOf('webauthn.create', options, changes)),
        attestationObject: base64url(attestationObject),
        transports: ['internal', 'hybrid'],
        ...changes.response,
      };
      return {
        passkey: { id, privateKey, userHandle: options.user?.id ?? '', counter: 0 },
        credential: { id, rawId: id, type: 'public-key', response, clientExtensionResults: {}, ...changes.credential },
      };
    },

    signIn(options, passkey, changes = {}) {
      if (changes.counter === undefined) passkey.counter++;
      const authData = authenticatorData(FLAGS.present | FLAGS.verified, passkey.counter, changes);
      const clientData = clientDataOf('webauthn.get', options, changes);
      const signed = Buffer.concat([authData, sha256(clientData)]);
      const key = changes.signer ?? passkey.privateKey;
      const signature = sign(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', signed, key);
      const id = changes.id ?? passkey.id;
      const response = {
        clientDataJSON: base64url(clientData),
        authenticatorData: base64url(authData),
        signature: base64url(changes.signature?.(signature) ?? signature),
        userHandle: changes.userHandle ?? passkey.userHandle,
        ...changes.response,
      };
      return { id, rawId: id, type: 'public-key', response, clientExtensionResults: {}, ...changes.credential };
    },
  };
}

const pick = (changes: ResponseChanges, names: readonly (keyof ResponseChanges)[]) =>
  Object.fromEntries(names.flatMap((name) => (changes[name] === undefined ? [] : [[name, changes[name]]])));

/** Encodes the part of CBOR (RFC 8949) that authenticators use. */
export function encodeCbor(value: CborValue): Buffer {
  if (typeof value === 'number') return value >= 0 ? cborHead(0, value) : cborHead(1, -1 - value);
  if (value instanceof Uint8Array) return Buffer.concat([cborHead(2, value.length), value]);
  if (typeof value === 'string') return Buffer.concat([cborHead(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Map) {
    const entries = [...(value as ReadonlyMap<CborValue, CborValue>)].flat();
    return Buffer.concat([cborHead(5, value.size), ...entries.map(encodeCbor)]);
  }
  const list = value as readonly CborValue[];
  return Buffer.concat([cborHead(4, list.length), ...list.map(encodeCbor)]);
}

function cborHead(major: number, count: number): Buffer {
  if (count < 24) return Buffer.from([(major << 5) | count]);
  if (count < 0x100) return Buffer.from([(major << 5) | 24, count]);
  return Buffer.from([(major << 5) | 25, count >> 8, count & 0xff]);
}
