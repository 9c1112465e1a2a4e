import { service } from '#kernel';

/** One notification for one user. */
export interface Notice {
  /** Key of the user. */
  readonly recipient: string;
  /** At most 255 characters. */
  readonly subject: string;
  readonly message?: string | null;
  /** The item it is about. */
  readonly collection?: string | null;
  readonly item?: string | null;
}

/**
 * Notifications that a user causes for users to whom that user could not write one. Part of the open unit of work. Each is also the
 * event `notifications.create`: a plugin that delivers notifications by other ways, such as mail, listens to its action, which
 * runs after commit and has the `key` of the row.
 */
export interface Notifications {
  /**
   * Writes the notices. `sender`: the user who caused them; null for the service itself.
   * @throws INVALID_PAYLOAD, VALUE_TOO_LONG and INVALID_FOREIGN_KEY for a notice that cannot be stored.
   */
  notify(sender: string | null, notices: readonly Notice[]): Promise<void>;
}

/** For plugins that notify users, such as `comments`. */
export const notifications = service<Notifications>('notifications', { version: '1.0.0' });
