import type { EventsApi } from '#kernel';
import type { InterProcessBus } from '../cluster/contract.ts';
import type { Db } from '../database/contract.ts';
import type { LoginAttemptCounter } from './attempts.ts';
import type { SessionStore } from './sessions.ts';
import type { StaticTokenVerifier } from './static-tokens.ts';
import type { ActiveUserCheck } from './user-status.ts';

interface Deps {
  readonly db: Pick<Db, 'answerAfter'>;
  readonly bus: Pick<InterProcessBus, 'waitForConfirmation'>;
  readonly events: Pick<EventsApi, 'onFilter' | 'onAction'>;
  readonly sessions: Pick<SessionStore, 'closeChanged'>;
  readonly attempts: Pick<LoginAttemptCounter, 'forgetChanged'>;
  readonly userStatus: Pick<ActiveUserCheck, 'forget'>;
  readonly statics: Pick<StaticTokenVerifier, 'forget'>;
}

/** Fields of a user that decide whose a static token is, and whether it is valid. */
const TOKEN_OWNER_FIELDS = ['status', 'token', 'role'] as const;

/** A changed user loses sessions and tokens before the change is answered, in every process. */
export function listenToUserChanges({ db, bus, events, sessions, attempts, userStatus, statics }: Deps): void {
  events.onFilter('users.update', async (payload, { keys }) => {
    await sessions.closeChanged(keys as string[], payload as Record<string, unknown>);
    await attempts.forgetChanged(keys as string[], payload as Record<string, unknown>);
    if (TOKEN_OWNER_FIELDS.some((field) => Object.hasOwn(payload as object, field)))
      db.answerAfter(bus.waitForConfirmation);
  });
  events.onFilter('users.delete', () => db.answerAfter(bus.waitForConfirmation));
  // The next request of this process must see the change before the message from the database arrives.
  for (const event of ['users.update', 'users.delete', 'roles.delete'])
    events.onAction(event, () => {
      userStatus.forget();
      statics.forget();
    });
}
