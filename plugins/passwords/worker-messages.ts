import type { WorkerMessage } from '../workers/contract.ts';

/** Parameters of Argon2id: KiB, passes, lanes, and bytes of a hash (32 where undefined). */
export interface HashCost {
  readonly memory: number;
  readonly time: number;
  readonly parallelism: number;
  readonly length?: number | undefined;
}

/** A job of a hashing process: hash a text, or compare a text with a stored hash. */
export type HashJob =
  | { readonly text: string; readonly cost: HashCost }
  | { readonly text: string; readonly stored: string };

/** The reply to a job: the hash, or whether the text matches the stored hash. */
export type PasswordWorkerReply = string | boolean;

export type PasswordWorkerMessage = WorkerMessage<PasswordWorkerReply>;
