import type { ActionHandler, Log } from '#kernel';
import type { NotificationService } from '../notifications/contract.ts';

interface Deps {
  readonly notifications: NotificationService;
  readonly log: Pick<Log, 'warn'>;
}

const SUBJECT = 'One of your sessions was ended';
const MESSAGE =
  'A refresh token of this session was used a second time. That happens when a client sends it twice, and also when another client has a copy of it. ' +
  'Sign in again. If you did not expect this, change your password: that ends all your sessions.';

/**
 * Creates the listener that tells a user that a spent refresh token ended a session. Of several uses of such a token only the
 * one that ends the session is an event, so neither log nor notifications grow with the number of attempts.
 */
export const createReuseNotice =
  ({ notifications, log }: Deps): ActionHandler =>
  async ({ caller, user, session }) => {
    log.warn({ user, session, ip: caller.ip }, 'a spent refresh token was used: its session is ended');
    await notifications.notify(null, [{ recipient: user as string, subject: SUBJECT, message: MESSAGE }]);
  };
