import { service } from '#kernel';

/** One notification for one user. */
export interface NewNotification {
  /** Key of the user. */
  readonly recipient: string;
  /** At most 255 characters. */
  readonly subject: string;
  readonly message?: string | null;
  /** The item that the notification is about. */
  readonly collection?: string | null;
  readonly item?: string | null;
}

/**
 * Notifications caused by a user for users that it may not write to itself. Part of the open unit of work. Each
 * notification also fires `notifications.create`: `mail-notifications` queues mail in its filter; another channel
 * listens to its action, which runs after the commit and has the `key` of the row.
 */
export interface NotificationService {
  /**
   * Writes the notifications. `sender`: the user that caused them; null for the service itself.
   * @throws INVALID_PAYLOAD, VALUE_TOO_LONG and INVALID_FOREIGN_KEY for a notification that cannot be stored.
   */
  notify(sender: string | null, notices: readonly NewNotification[]): Promise<void>;
}

/** The service for plugins that notify users, such as `comments`. */
export const notifications = service<NotificationService>('notifications', { version: '1.0.0' });
