import { randomBytes } from 'node:crypto';
import type { Db } from '../database/contract.ts';
import type { SecretCipher } from '../secrets/contract.ts';
import { createMasterKey, createSecretCipher } from '../secrets/library.ts';
import { SECOND_FACTOR_KEYS } from './collections.ts';

const KEY_NAME = 'second factors';
const KEY_BYTES = 32;

/** An envelope of one user cannot be opened as that of another. */
const kindOf = (user: string): string => `second factor of ${user}`;

/** A secret whose envelope was opened. */
export interface OpenedSecret {
  readonly secret: string;
  /** The same secret in a new envelope, where the old one was made with a key that is not in use any more. */
  readonly renewed: string | undefined;
}

/** Encrypts secrets by SECRETS_ENCRYPTION_KEY where it is set, else by a key that the database keeps (ADR 49). */
export interface SecondFactorEncryption {
  seal(user: string, secret: string): Promise<string>;
  /** Opens envelopes of both keys; undefined where neither of them made it. */
  open(user: string, envelope: string): Promise<OpenedSecret | undefined>;
}

export function createSecondFactorEncryption(db: Db, secrets: SecretCipher): SecondFactorEncryption {
  const keys = db.own(SECOND_FACTOR_KEYS);
  const READ = db.sql`select value from ${keys} where name = $1`;
  const WRITE = db.sql`insert into ${keys} (name, value) values ($1, $2) on conflict (name) do nothing`;
  let known: SecretCipher | undefined;

  async function readOwnCipher(): Promise<SecretCipher | undefined> {
    if (known) return known;
    const { rows } = await db.query<{ value: string }>(READ, [KEY_NAME]);
    const [row] = rows;
    if (row) known = createSecretCipher(createMasterKey(Buffer.from(row.value, 'base64')));
    return known;
  }

  /** Of processes that need the key at the same time the first one writes it. */
  async function requireOwnCipher(): Promise<SecretCipher> {
    const cipher = await readOwnCipher();
    if (cipher) return cipher;
    await db.query(WRITE, [KEY_NAME, randomBytes(KEY_BYTES).toString('base64')]);
    return (await readOwnCipher()) as SecretCipher;
  }

  async function seal(user: string, secret: string): Promise<string> {
    const cipher = secrets.available() ? secrets : await requireOwnCipher();
    return cipher.seal(kindOf(user), secret);
  }

  return {
    seal,
    async open(user, envelope) {
      const kind = kindOf(user);
      const secret = secrets.open(kind, envelope);
      if (secret !== undefined) return { secret, renewed: undefined };
      const own = (await readOwnCipher())?.open(kind, envelope);
      if (own === undefined) return undefined;
      return { secret: own, renewed: secrets.available() ? secrets.seal(kind, own) : undefined };
    },
  };
}
