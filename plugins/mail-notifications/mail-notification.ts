import { Failure, type FilterHandler, type Log } from '#kernel';
import type { Db } from '../database/contract.ts';
import type { MailService } from '../mail/contract.ts';

interface Deps {
  readonly mail: MailService;
  readonly db: Pick<Db, 'query' | 'read' | 'sql'>;
  readonly log: Pick<Log, 'warn'>;
}

const USER_KEY = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** Characters of a notification's message that the mail holds. */
const MAX_MESSAGE = 20_000;
const MAX_SUBJECT = 500;

/**
 * Creates the filter that queues the mail of a new notification, in the unit of work that writes it. Users without
 * `email_notifications` or without an address, and users that are not active, get none. The payload stays as it is.
 */
export function createNotificationMailer({ mail, db, log }: Deps): FilterHandler {
  const FIND = db.sql`select email from ${db.read('platform_users')}
    where id = $1 and email_notifications and status = 'active' and email is not null`;
  return async (payload) => {
    const { recipient, subject, message, collection, item } = payload as Record<string, unknown>;
    const key = readUserKey(recipient);
    if (!mail.isConfigured() || key === undefined || typeof subject !== 'string') return;
    const { rows } = await db.query<{ email: string }>(FIND, [key], { name: 'notification_mail_user' });
    const email = rows[0]?.email;
    if (email === undefined) return;
    const text = typeof message === 'string' ? message.slice(0, MAX_MESSAGE) : null;
    try {
      await mail.send({
        to: email,
        subject: renderSubject(subject),
        template: { name: 'notification', data: { message: text, collection, item } },
      });
    } catch (error) {
      // An address that no mail can be sent to is no reason to refuse the notification.
      if (!(error instanceof Failure) || error.code !== 'INVALID_PAYLOAD') throw error;
      log.warn({ err: error, user: key }, 'a notification cannot be mailed');
    }
  };
}

/** The key of the recipient, by itself or as the member of an object, as writes take it. */
function readUserKey(recipient: unknown): string | undefined {
  const key = typeof recipient === 'object' && recipient !== null ? (recipient as { id?: unknown }).id : recipient;
  return typeof key === 'string' && USER_KEY.test(key) ? key : undefined;
}

/** The subject of a notification may have line breaks, and may be empty; that of a mail may not. */
const renderSubject = (subject: string): string =>
  subject
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, MAX_SUBJECT) || 'Notification';
