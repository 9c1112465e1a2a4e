import type { WorkerMessage } from '../workers/contract.ts';
import type { Delimiters } from './contract.ts';

/** What a process receives. `data` is JSON text. */
export interface Job {
  readonly template: string;
  readonly data: string;
  readonly delimiters: Delimiters;
}

/** The end of a job: the rendered text, or in one line why there is none. */
export type Reply = { readonly text: string } | { readonly reason: string };

export type Message = WorkerMessage<Reply>;
