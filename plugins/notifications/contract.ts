import { service } from '#kernel';

/** What one user is told. */
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
 * Notices that come about through what somebody did, to users for whom he could not write one himself. Part of the unit
 * of work that is open. Each is also the event `notifications.create`: whoever brings notices to people by other ways,
 * such as mail, listens to its action, which comes after commit and has the row's `key`.
 */
export interface Notifications {
  /** `sender`: the user who caused them; null for the service itself. */
  notify(sender: string | null, notices: readonly Notice[]): Promise<void>;
}

export const notifications = service<Notifications>('notifications', { version: '1.0.0' });
