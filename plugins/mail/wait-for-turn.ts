import type { Db } from '../database/contract.ts';
import type { JobQueue } from '../queue/contract.ts';
import type { MailConfig } from './config.ts';
import type { MailDeliveryDeps } from './deliver.ts';
import { MAIL_QUEUE } from './limits.ts';
import type { MailJobData } from './mail-job.ts';
import type { SendWindows } from './send-windows.ts';

interface Deps {
  readonly config: MailConfig;
  readonly db: Pick<Db, 'transaction'>;
  readonly windows: Pick<SendWindows, 'reserve'>;
  readonly queue: () => Pick<JobQueue<MailJobData>, 'add'>;
}

const ALL_MAIL = 'all mail';
/** Seconds of the longest pause between two attempts, as in the queue. */
const MAX_RETRY_DELAY = 3600;

/**
 * Creates the limit of RATE_LIMITER_EMAIL_*. A message over the limit reserves its place in a later window, and a job that starts
 * then takes the place of the running one: its attempts are not used up by waiting, and no process holds it meanwhile. It has the
 * retries that the running one had left. A retry is a message for the server, and needs a place of its own.
 */
export function createTurnWaiting({ config, db, windows, queue }: Deps): MailDeliveryDeps['waitForTurn'] {
  const limit = {
    points: config.RATE_LIMITER_EMAIL_POINTS,
    duration: config.RATE_LIMITER_EMAIL_DURATION,
    queue: config.RATE_LIMITER_EMAIL_QUEUE_SIZE,
  };
  if (!config.RATE_LIMITER_EMAIL_ENABLED) return async () => undefined;
  return async (id, { data, attempt }) => {
    if (data.reserved && attempt === 1) return undefined;
    return db.transaction(async () => {
      const begins = await windows.reserve(ALL_MAIL, limit);
      if (!begins) throw new Error(`more than ${limit.queue} messages wait already (RATE_LIMITER_EMAIL_QUEUE_SIZE)`);
      if (begins.getTime() <= Date.now()) return undefined;
      // The key keeps a repeated job from adding a second one.
      const failures = (data.failures ?? 0) + attempt - 1;
      await queue().add(
        { ...data, id, reserved: true, failures },
        {
          startAfter: begins,
          key: id,
          retries: Math.max(0, MAIL_QUEUE.retries - failures),
          retryDelay: Math.min(MAIL_QUEUE.retryDelay * 2 ** failures, MAX_RETRY_DELAY),
        },
      );
      return begins;
    });
  };
}
