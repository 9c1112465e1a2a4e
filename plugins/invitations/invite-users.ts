import { type Caller, Failure, fail } from '#kernel';
import type { AccessControl } from '../access/contract.ts';
import type { UserLinks } from '../auth/library.ts';
import type { Db } from '../database/contract.ts';
import type { ItemsEngine } from '../items/contract.ts';
import type { MailService } from '../mail/contract.ts';
import { buildLink, type LinkPages } from '../mail/library.ts';
import type { SchemaService } from '../schema/contract.ts';
import { type InvitationRequest, parseInvitationRequest } from './invitation-request.ts';
import type { InvitationStatements, InvitedUser } from './statements.ts';

export interface InviteUsersDeps {
  readonly db: Pick<Db, 'query' | 'transaction'>;
  readonly statements: InvitationStatements;
  readonly links: UserLinks<InvitedUser>;
  readonly pages: LinkPages;
  readonly mail: Pick<MailService, 'send'>;
  readonly access: Pick<AccessControl, 'assertAllowed' | 'assertAuthority' | 'role' | 'validatePayload'>;
  readonly items: Pick<ItemsEngine, 'createOne' | 'updateOne'>;
  readonly schema: Pick<SchemaService, 'snapshot'>;
  readonly systemCaller: () => Caller;
}

const USERS = 'platform_users';

const hasCode = (error: unknown, code: string): boolean => error instanceof Failure && error.code === code;

/**
 * Creates the handler that invites users: all addresses of a request or none. Unknown addresses become users with the permissions of the
 * caller; those that are invited already get another mail; any others stay as they are, with the same answer.
 */
export function createInviteUsers(deps: InviteUsersDeps) {
  /** @throws FORBIDDEN, INVALID_PAYLOAD, INVALID_CONFIG, INVALID_FOREIGN_KEY, Failures of FAILED_VALIDATION */
  return async (caller: Caller, body: unknown): Promise<void> => {
    await deps.access.assertAllowed(caller, 'create', USERS);
    const request = parseInvitationRequest(body);
    const page = deps.pages.pageOf(request.inviteUrl);
    const invite = () => deps.db.transaction(() => inviteAll(deps, caller, request, page));
    try {
      await invite();
    } catch (error) {
      // Another request has created one of the users meanwhile, whom the second attempt finds.
      if (!hasCode(error, 'RECORD_NOT_UNIQUE')) throw error;
      await invite();
    }
  };
}

async function inviteAll(
  deps: InviteUsersDeps,
  caller: Caller,
  { emails, role }: InvitationRequest,
  page: string,
): Promise<void> {
  await assertMayInvite(deps, caller, emails, role);
  for (const email of emails) {
    const user = await findOrCreateUser(deps, caller, email, role);
    if (!user) continue;
    await deps.mail.send({
      to: user.email,
      subject: 'You are invited',
      template: {
        name: 'user-invitation',
        data: { email: user.email, url: buildLink(page, deps.links.sign(user)) },
      },
    });
  }
}

const payloadOf = (email: string, role: string) => ({ email, role, status: 'invited' });

/** Asserts for known and unknown addresses alike that the caller may create such users, so that the answer does not tell them apart. */
async function assertMayInvite(
  { access, schema }: InviteUsersDeps,
  caller: Caller,
  emails: readonly string[],
  role: string,
): Promise<void> {
  const snapshot = await schema.snapshot();
  const collection = snapshot.collections.get(USERS);
  if (!collection) throw new Error(`the schema has no ${USERS}`);
  await access.assertAuthority(caller, USERS, 'create', [{ keys: [], values: { role } }]);
  for (const email of emails)
    await access.validatePayload(collection, 'create', payloadOf(email, role), caller, snapshot);
  if (!(await access.role(role)))
    throw fail('INVALID_FOREIGN_KEY', 'No role has this key.', { collection: USERS, field: 'role', path: ['role'] });
}

/** The user whom the mail is for; undefined for an address whose user is not invited any more, or is an admin to be. */
async function findOrCreateUser(
  { db, statements, access, items, systemCaller }: InviteUsersDeps,
  caller: Caller,
  email: string,
  role: string,
): Promise<InvitedUser | undefined> {
  const [known] = (await db.query<InvitedUser>(statements.LOCK_BY_EMAIL, [email])).rows;
  if (!known) {
    const id = await items.createOne(caller, USERS, payloadOf(email, role));
    return (await db.query<InvitedUser>(statements.LOCK_BY_ID, [id])).rows[0];
  }
  if (known.status !== 'invited') return undefined;
  if (known.role !== role) {
    try {
      await access.assertAuthority(caller, USERS, 'update', [{ keys: [known.id], values: { role } }]);
    } catch (error) {
      if (hasCode(error, 'FORBIDDEN')) return undefined;
      throw error;
    }
    await items.updateOne(systemCaller(), USERS, known.id, { role });
  }
  return known;
}
