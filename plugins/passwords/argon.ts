import { argon2id, hash, verify } from 'argon2';
import type { Passwords } from './contract.ts';

export interface Cost {
  readonly memory: number;
  readonly time: number;
  readonly parallelism: number;
}

export const argonPasswords = ({ memory, time, parallelism }: Cost): Passwords => ({
  hash: (text) => hash(text, { type: argon2id, memoryCost: memory, timeCost: time, parallelism }),
  // The library throws on text that is no hash of its own, such as a value written by hand.
  verify: (stored, text) => verify(stored, text).catch(() => false),
});
