import type { WorkerMessage } from '../workers/contract.ts';

/** Parameters of Argon2id: KiB, passes, lanes. */
export interface HashCost {
  readonly memory: number;
  readonly time: number;
  readonly parallelism: number;
}

/** What a process receives. */
export type Job =
  | { readonly text: string; readonly cost: HashCost }
  | { readonly text: string; readonly stored: string };

/** The hash, or whether the text is the one that is stored. */
export type PasswordWorkerReply = string | boolean;

export type PasswordWorkerMessage = WorkerMessage<PasswordWorkerReply>;
