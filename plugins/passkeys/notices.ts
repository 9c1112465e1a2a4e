import { Failure, type Log } from '#kernel';
import type { Db } from '../database/contract.ts';
import type { MailService } from '../mail/contract.ts';
import type { SettingsService } from '../settings/contract.ts';
import { passkeyStatements } from './statements.ts';

/** Tells users by mail what changed about their passkeys, since a thief of the account may have made the change. */
export interface PasskeyNotices {
  /** Queues a mail in the open unit of work, where mail is configured and the user is active and has an address. */
  send(user: string, change: 'added' | 'removed', name: string): Promise<void>;
}

interface Deps {
  readonly db: Db;
  readonly log: Pick<Log, 'warn'>;
  readonly mail: MailService;
  readonly settings: SettingsService;
}

const CHANGES = {
  added: { subject: 'A passkey was added', text: 'was added to your account. It signs in without a password.' },
  removed: { subject: 'A passkey was removed', text: 'was removed from your account and signs in no more.' },
} as const;

export function createPasskeyNotices({ db, log, mail, settings }: Deps): PasskeyNotices {
  const { MAIL_ADDRESS } = passkeyStatements(db);
  return {
    async send(user, change, name) {
      if (!mail.isConfigured()) return;
      const { rows } = await db.query<{ email: string }>(MAIL_ADDRESS, [user]);
      const email = rows[0]?.email;
      if (email === undefined) return;
      const { project_name } = await settings.current();
      const { subject, text } = CHANGES[change];
      const message = `The passkey "${name}" ${text}\n\nIf you did not do this, change your password and tell an administrator of ${project_name}.`;
      try {
        await mail.send({ to: email, subject, template: { name: 'notification', data: { message } } });
      } catch (error) {
        // An address that no mail can be sent to is no reason to refuse the change.
        if (!(error instanceof Failure) || error.code !== 'INVALID_PAYLOAD') throw error;
        log.warn({ err: error, user }, 'the notice about a passkey cannot be mailed');
      }
    },
  };
}
