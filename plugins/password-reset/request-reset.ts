import { Failure, type Log } from '#kernel';
import { createRequestPlaces, type UserLinks, withEqualDuration } from '../auth/library.ts';
import type { Db } from '../database/contract.ts';
import type { HttpContext } from '../http/contract.ts';
import { parseTextFields } from '../http/library.ts';
import type { MailService } from '../mail/contract.ts';
import { buildLink, type LinkPages } from '../mail/library.ts';
import type { PasswordOwner, passwordResetStatements } from './statements.ts';

export interface RequestResetDeps {
  readonly db: Pick<Db, 'query' | 'transaction'>;
  readonly statements: Pick<ReturnType<typeof passwordResetStatements>, 'COUNT_MAIL'>;
  readonly links: UserLinks<PasswordOwner>;
  readonly mail: MailService;
  readonly pages: LinkPages;
  readonly log: Pick<Log, 'warn'>;
  /** LOGIN_STALL_TIME. */
  readonly stallTime: number;
}

const FIELDS = { required: { email: 255 }, optional: { reset_url: 2000 } } as const;
/** The work is a statement or two, so many may wait. */
const QUEUE = { queue: 500, queueOfKey: 100 } as const;
/** Milliseconds between two lines of the log about a request that cannot be mailed: anonymous clients cause them. */
const LOG_INTERVAL = 60_000;

/**
 * Creates the handler of a request for a new password: mails a link to the active user of the local provider with this address. For
 * every other address it does nothing, with the same answer after the same time.
 */
export function createRequestReset({ db, statements, links, mail, pages, log, stallTime }: RequestResetDeps) {
  let loggedAt = Number.NEGATIVE_INFINITY;
  const withPlace = createRequestPlaces(QUEUE);

  function warn(about: object, text: string): void {
    if (performance.now() - loggedAt < LOG_INTERVAL) return;
    loggedAt = performance.now();
    log.warn(about, text);
  }

  /** The page of the link; undefined where no mail can be sent to any address. */
  function findPage(requested: string | undefined): string | undefined {
    const isComplete = requested !== undefined || pages.hasDefault;
    const page = isComplete ? pages.pageOf(requested) : undefined;
    if (page !== undefined && mail.isConfigured()) return page;
    const missing = page === undefined ? 'PUBLIC_URL is no absolute address' : 'EMAIL_TRANSPORT is not configured';
    warn({}, `a link for a new password is not mailed: ${missing}`);
    return undefined;
  }

  async function sendLink(email: string, page: string): Promise<void> {
    await db.transaction(async () => {
      const [user] = (await db.query<PasswordOwner & { email: string }>(statements.COUNT_MAIL, [email])).rows;
      if (!user) return;
      try {
        await mail.send({
          // The address as it is stored: PostgreSQL may take another spelling for equal, which is another mailbox.
          to: user.email,
          subject: 'Set a new password',
          template: { name: 'password-reset', data: { email: user.email, url: buildLink(page, links.sign(user)) } },
        });
      } catch (error) {
        // An answer about the address would show that there is such a user.
        if (!(error instanceof Failure) || error.code !== 'INVALID_PAYLOAD') throw error;
        warn({ err: error, user: user.id }, 'a link for a new password cannot be mailed');
      }
    });
  }

  /** @throws INVALID_PAYLOAD for a body of another form, and for a `reset_url` that is not allowed; SERVICE_UNAVAILABLE */
  return (ctx: HttpContext, body: unknown): Promise<void> =>
    withEqualDuration(stallTime, async () => {
      const { email, reset_url } = parseTextFields(body, FIELDS);
      const page = findPage(reset_url);
      if (page !== undefined) await withPlace(ctx, () => sendLink(email, page));
    });
}
