import type { MailMessage } from './contract.ts';

/** The data of one job of the queue. */
export interface MailJobData {
  readonly message: MailMessage;
  /** The id of the first job of the message, where this one takes its place after a wait. Default: the id of the job. */
  readonly id?: string;
  /** Whether a place in a window of RATE_LIMITER_EMAIL_* was reserved for the message. */
  readonly reserved?: true;
  /** Attempts that failed in earlier jobs of the message. Default 0. */
  readonly failures?: number;
}

/** What a job answers, for the list of jobs. */
export interface MailJobResult {
  readonly outcome: 'accepted' | 'rejected by a listener' | 'waits for its turn';
  readonly messageId?: string;
  readonly response?: string;
  /** When the job that takes its place runs (ISO 8601). */
  readonly until?: string;
}
