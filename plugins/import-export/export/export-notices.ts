import type { Log } from '#kernel';
import { FILES_COLLECTION_NAME } from '../../files/contract.ts';
import type { NotificationService } from '../../notifications/contract.ts';

/** Tells the user of an export how it ended. An export without a user writes no notification. */
export interface ExportNotices {
  /** Part of the unit of work that creates the file. */
  done(user: string | null, collection: string, file: string): Promise<void>;
  /** Never rejects: a notification that cannot be written is logged. */
  failed(user: string | null, collection: string, reason: string): Promise<void>;
}

interface Deps {
  readonly notifications: NotificationService;
  readonly log: Log;
}

export const createExportNotices = ({ notifications, log }: Deps): ExportNotices => ({
  async done(user, collection, file) {
    if (user === null) return;
    const subject = `Your export of ${collection} is ready`.slice(0, 255);
    const message = `The rows of ${collection} are in the file ${file}.`;
    await notifications.notify(user, [
      { recipient: user, subject, message, collection: FILES_COLLECTION_NAME, item: file },
    ]);
  },
  async failed(user, collection, reason) {
    if (user === null) return;
    const subject = `Your export of ${collection} failed`.slice(0, 255);
    await notifications.notify(user, [{ recipient: user, subject, message: reason }]).catch((error: unknown) => {
      log.error({ err: error, collection, user }, 'the user of a failed export could not be notified');
    });
  },
});
