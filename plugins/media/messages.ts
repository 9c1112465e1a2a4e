import type { WorkerMessage } from '../workers/contract.ts';
import type { ImagePlan, Inspected, Made, MediaReason } from './contract.ts';

/** What a process is asked; one thing at a time. */
export type Job =
  | { readonly kind: 'inspect'; readonly path: string; readonly declared?: string | undefined }
  | { readonly kind: 'transform'; readonly source: string; readonly target: string; readonly plan: ImagePlan };

/** The end of a job. */
export type Reply = { readonly done: Made | null } | { readonly failed: MediaReason; readonly message: string };

/**
 * What a process sends. A note is a part of an inspection: what is known is sent at once, so that it is not lost with the process.
 * The process decodes hostile bytes: nothing of this is believed before it is checked.
 */
export type Message = WorkerMessage<Reply, Inspected>;
