import type { Db } from '../database/contract.ts';
import type { JobQueue } from '../queue/contract.ts';
import type { MailConfig } from './config.ts';
import type { MailDeliveryDeps } from './deliver.ts';
import type { MailJobData } from './mail-job.ts';
import type { SendWindows } from './send-windows.ts';

interface Deps {
  readonly config: MailConfig;
  readonly db: Pick<Db, 'transaction'>;
  readonly windows: Pick<SendWindows, 'reserve'>;
  readonly queue: () => Pick<JobQueue<MailJobData>, 'add'>;
}

const ALL_MAIL = 'all mail';

/**
 * Creates the limit of RATE_LIMITER_EMAIL_*. A message over the limit reserves its place in a later window, and a job that starts
 * then takes the place of the running one: its attempts are not used up by waiting, and no process holds it meanwhile.
 */
export function createTurnWaiting({ config, db, windows, queue }: Deps): MailDeliveryDeps['waitForTurn'] {
  const limit = {
    points: config.RATE_LIMITER_EMAIL_POINTS,
    duration: config.RATE_LIMITER_EMAIL_DURATION,
    queue: config.RATE_LIMITER_EMAIL_QUEUE_SIZE,
  };
  if (!config.RATE_LIMITER_EMAIL_ENABLED) return async () => undefined;
  return async (id, data) => {
    if (data.reserved) return undefined;
    return db.transaction(async () => {
      const begins = await windows.reserve(ALL_MAIL, limit);
      if (!begins) throw new Error(`more than ${limit.queue} messages wait already (RATE_LIMITER_EMAIL_QUEUE_SIZE)`);
      if (begins.getTime() <= Date.now()) return undefined;
      // The key keeps a repeated job from adding a second one.
      await queue().add({ ...data, id, reserved: true }, { startAfter: begins, key: id });
      return begins;
    });
  };
}
