import type { JsonSchema } from '../http/contract.ts';
import { exactObjectSchema, objectSchema } from '../http/library.ts';

const base64url = (maxLength: number): JsonSchema => ({
  type: 'string',
  minLength: 1,
  maxLength,
  pattern: '^[A-Za-z0-9_-]+$',
});

/** A credential as `PublicKeyCredential.toJSON()` of a browser answers it; other members are ignored. */
const credentialSchema = (response: JsonSchema): JsonSchema =>
  objectSchema({ id: base64url(1364), rawId: base64url(1364), type: { const: 'public-key' }, response }, [
    'id',
    'rawId',
    'type',
    'response',
  ]);

const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;

/** The credential of a registration. Its bounds are several times what authenticators send. */
export const NEW_CREDENTIAL_SCHEMA = credentialSchema(
  objectSchema(
    {
      clientDataJSON: base64url(4096),
      attestationObject: base64url(16_384),
      transports: { type: 'array', maxItems: 16, items: { type: 'string', maxLength: 32 } },
    },
    ['clientDataJSON', 'attestationObject'],
  ),
);

/** The credential of a sign-in. */
export const SIGN_IN_CREDENTIAL_SCHEMA = credentialSchema(
  objectSchema(
    {
      clientDataJSON: base64url(4096),
      authenticatorData: base64url(4096),
      signature: base64url(1024),
      userHandle: base64url(128),
    },
    ['clientDataJSON', 'authenticatorData', 'signature', 'userHandle'],
  ),
);

/** The body of a sign-in without `mode` and `otp`. */
export const SIGN_IN_BODY_SCHEMA = exactObjectSchema({ credential: SIGN_IN_CREDENTIAL_SCHEMA });

/** The transports of a new credential that browsers know: others would make the options invalid later. */
export const knownTransportsOf = (transports: readonly string[] = []): readonly string[] =>
  TRANSPORTS.filter((one) => transports.includes(one));
