import type { WorkerMessage } from '../workers/contract.ts';
import type { TemplateRenderOptions } from './contract.ts';

/** A job for a rendering process. `data` is JSON text. */
export interface TemplateJob {
  readonly template: string;
  readonly data: string;
  readonly options: TemplateRenderOptions;
}

/** The result of a job: the rendered text, or the reason of the failure in one line. */
export type TemplateWorkerReply = { readonly text: string } | { readonly reason: string };

export type TemplateWorkerMessage = WorkerMessage<TemplateWorkerReply>;
