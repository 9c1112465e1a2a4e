const [KTY, ALG, CRV, X, Y] = [1, 3, -1, -2, -3];
/** In keys of the type RSA the members of elliptic curves are modulus and exponent. */
const [MODULUS, EXPONENT] = [CRV, X];
/** Bytes of the whole key: more than RSA keys of 4,096 bits need. */
const MAX_LENGTH = 1024;

const lengthOf = (value: unknown): number => (value instanceof Uint8Array ? value.byteLength : 0);

/**
 * Checks a COSE key (RFC 9053) of `length` bytes. Refuses keys whose type, curve and algorithm do not belong together, which the library verifies by the type alone, and keys of such a
 * size that verifying by them costs much or means little. @throws Error with the reason
 */
export function assertUsualPublicKey(key: ReadonlyMap<number, unknown>, length: number): void {
  const is = (kty: number, crv?: number) => key.get(KTY) === kty && (crv === undefined || key.get(CRV) === crv);
  const isUsual = () => {
    switch (key.get(ALG)) {
      case -7: // ES256: a point of P-256
        return is(2, 1) && lengthOf(key.get(X)) === 32 && lengthOf(key.get(Y)) === 32;
      case -8: // EdDSA: Ed25519
        return is(1, 6) && lengthOf(key.get(X)) === 32;
      case -257: // RS256: 2,048 to 4,096 bits
        return (
          is(3) &&
          lengthOf(key.get(MODULUS)) >= 256 &&
          lengthOf(key.get(MODULUS)) <= 512 &&
          lengthOf(key.get(EXPONENT)) <= 4
        );
      default:
        return false;
    }
  };
  if (length > MAX_LENGTH || !isUsual()) throw new Error('The public key is not of a kind that the options offer.');
}
