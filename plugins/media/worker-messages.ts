import type { WorkerMessage } from '../workers/contract.ts';
import type { FileInspection, ImageTransformPlan, ImageTransformResult, MediaFailureReason } from './contract.ts';

/** A job of a media process. */
export type MediaJob =
  | { readonly kind: 'inspect'; readonly path: string; readonly declared?: string | undefined }
  | { readonly kind: 'transform'; readonly source: string; readonly target: string; readonly plan: ImageTransformPlan };

/** The last message of a job: the written image, null for an inspection, or the reason of a failure. */
export type MediaWorkerReply =
  | { readonly done: ImageTransformResult | null }
  | { readonly failed: MediaFailureReason; readonly message: string };

/**
 * A message of a media process. A note is a part of an inspection, sent at once so that it survives a crash of the
 * process. The process decodes hostile bytes: `worker-reply.ts` validates every message.
 */
export type MediaWorkerMessage = WorkerMessage<MediaWorkerReply, FileInspection>;
