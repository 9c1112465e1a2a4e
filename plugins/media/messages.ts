import type { ImagePlan, Inspected, Made, MediaReason } from './contract.ts';

/** What a process is asked; one thing at a time. */
export type Job =
  | { readonly kind: 'inspect'; readonly path: string; readonly declared?: string | undefined }
  | { readonly kind: 'transform'; readonly source: string; readonly target: string; readonly plan: ImagePlan };

/** What a process says. It decodes strangers' bytes: nothing of this is taken for true before it is looked at. */
export type Message =
  | 'ready'
  /** It has the job: what happens to it from here on is the job's doing. */
  | 'begun'
  /** A part of an inspection: what is known is told at once, so that it is not lost with the process. */
  | { readonly found: Inspected }
  /** The end of a job. `spent`: seconds of processor time since the process started. */
  | { readonly done: Made | null; readonly spent: number }
  | { readonly failed: MediaReason; readonly message: string; readonly spent: number };
