import { argon2id, hash } from 'argon2';
import type { HashCost } from './messages.ts';

/** A new hash of the text, parameters and salt inside. */
export const argon2Hash = (text: string, { memory, time, parallelism }: HashCost): Promise<string> =>
  hash(text, { type: argon2id, memoryCost: memory, timeCost: time, parallelism });
