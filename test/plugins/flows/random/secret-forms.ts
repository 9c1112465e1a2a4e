/** The parts of base64 that are the same whatever stands before and behind, for each of the three positions. */
const base64Parts = (text: string): readonly string[] =>
  [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
    const begin = before === 0 ? 0 : before + 1;
    // The last group is left out where further bytes would change it.
    return bytes
      .toString('base64')
      .replace(/=+$/, '')
      .slice(begin, Math.floor((bytes.length * 8) / 6));
  });

/** Base64 of `user:<secret>`, from the first letter that depends on the secret. */
const userPasswordParts = (secret: string): readonly string[] =>
  base64Parts(`user:${secret}`).map((part) => part.slice(8));

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** What a chain may make of a secret, by encoding: texts that must be nowhere. */
export function formsOf(secret: string): Readonly<Record<string, readonly string[]>> {
  const bytes = Buffer.from(secret);
  const base64 = base64Parts(secret);
  return {
    'as it is': [secret],
    JSON: [inJson(secret)],
    'JSON in JSON': [inJson(inJson(secret))],
    'URL-encoded': [encodeURIComponent(secret), encodeURIComponent(secret).replaceAll('%20', '+')],
    base64,
    'base64 of user:password': userPasswordParts(secret),
    hex: [bytes.toString('hex'), bytes.toString('hex').toUpperCase()],
    base64url: base64.map((part) => part.replaceAll('+', '-').replaceAll('/', '_')),
  };
}

/** Texts that have a secret in each encoding, as a client or a server may send them in places that hold no secrets. */
export const encodedTextsOf = (secret: string): readonly string[] => [
  `is ${secret}.`,
  JSON.stringify({ of: secret }),
  JSON.stringify({ text: JSON.stringify({ of: secret }) }),
  `https://example.com/?of=${encodeURIComponent(secret)}&more=1`,
  ...['', '1', '22'].map((before) => Buffer.from(`${before}${secret}3`).toString('base64')),
  Buffer.from(`user:${secret}`).toString('base64'),
  `0x${Buffer.from(secret).toString('hex')}`,
  Buffer.from(`x${secret}yz`).toString('base64url'),
];
