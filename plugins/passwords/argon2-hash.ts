import { argon2id, hash } from 'argon2';
import type { HashCost } from './worker-messages.ts';

/** Hashes a text by Argon2id. The result contains the parameters and a new salt. */
export const argon2Hash = (text: string, { memory, time, parallelism, length = 32 }: HashCost): Promise<string> =>
  hash(text, { type: argon2id, memoryCost: memory, timeCost: time, parallelism, hashLength: length });
