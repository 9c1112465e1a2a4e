import { createHash, randomBytes } from 'node:crypto';

/** Codes of one list. */
const COUNT = 10;
/** The digits of Crockford's Base32, which has no `i`, `l`, `o` and `u`: they are mistaken for others when written by hand. */
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
/** Characters of a code, of five random bits each. */
const LENGTH = 20;
const GROUP = /.{5}(?!$)/g;

/** A new list of recovery codes, such as `k3vd7-…`, of 100 random bits each. */
export const createRecoveryCodes = (): readonly string[] =>
  Array.from({ length: COUNT }, () => {
    const digits = [...randomBytes(LENGTH)].map((byte) => DIGITS[byte & 31]);
    return digits.join('').replace(GROUP, '$&-');
  });

const withoutMistakes = (code: string): string =>
  code.toLowerCase().replace(/[\s-]/g, '').replaceAll('o', '0').replace(/[il]/g, '1');

/** The stored form of a code. A code cannot be guessed, so a fast hash is enough. The same code of another user has another hash. */
export const hashRecoveryCode = (user: string, code: string): string =>
  createHash('sha256')
    .update(`${user}/${withoutMistakes(code)}`)
    .digest('hex');
