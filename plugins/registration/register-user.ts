import { type Caller, Failure, fail } from '#kernel';
import { createRequestPlaces, PASSWORD_CHANGE_QUEUE, type UserLinks, withEqualDuration } from '../auth/library.ts';
import type { Db } from '../database/contract.ts';
import type { HttpContext } from '../http/contract.ts';
import { parseTextFields } from '../http/library.ts';
import type { ItemsEngine } from '../items/contract.ts';
import type { MailService } from '../mail/contract.ts';
import { assertEmailField, buildLink, type LinkPages } from '../mail/library.ts';
import type { PasswordService } from '../passwords/contract.ts';
import type { ClientLimit } from '../rate-limit/contract.ts';
import type { PasswordPolicy } from '../users/contract.ts';
import type { RegistrationTerms } from './registration-terms.ts';
import type { RegisteredUser, RegistrationStatements } from './statements.ts';

export interface RegisterUserDeps {
  readonly db: Pick<Db, 'query' | 'transaction'>;
  readonly statements: RegistrationStatements;
  readonly items: Pick<ItemsEngine, 'createOne' | 'updateOne'>;
  readonly links: UserLinks<RegisteredUser>;
  readonly mail: MailService;
  readonly pages: LinkPages;
  readonly passwords: Pick<PasswordService, 'hash'>;
  readonly policy: PasswordPolicy;
  readonly readTerms: () => Promise<RegistrationTerms>;
  /** Undefined where RATE_LIMITER_REGISTRATION_ENABLED is false. */
  readonly limit: ClientLimit | undefined;
  readonly systemCaller: () => Caller;
  /** How long a registration waits for its confirmation. Milliseconds. */
  readonly lifetime: number;
  /** REGISTER_STALL_TIME. */
  readonly stallTime: number;
}

const USERS = 'platform_users';
/** The numbers of characters of the columns. A longer text would be refused for unknown addresses only. */
const FIELDS = {
  required: { email: 128, password: 1000 },
  optional: { first_name: 50, last_name: 50, verification_url: 2000 },
} as const;
/** Registrations that wait for their confirmation, all together: anonymous clients create them. */
const MOST_WAITING = 10_000;

/** One registration, checked as far as that does not depend on what users there are. */
interface Registration {
  readonly email: string;
  readonly password: string;
  readonly names: { readonly first_name: string | null; readonly last_name: string | null };
  readonly role: string | null;
  /** The page of the link by which the address is confirmed; undefined where the user is active at once. */
  readonly page: string | undefined;
}

/**
 * Creates the handler that registers a user. An address that a user has already is answered alike, after the same time: all that can be
 * refused is asserted before the address is looked up.
 */
export function createRegisterUser(deps: RegisterUserDeps) {
  const withPlace = createRequestPlaces(PASSWORD_CHANGE_QUEUE);

  async function parse(body: unknown, terms: RegistrationTerms): Promise<Registration> {
    const { email, password, verification_url, first_name = null, last_name = null } = parseTextFields(body, FIELDS);
    const { verifyEmail, role, assertEmailAllowed } = terms;
    const page = verifyEmail || verification_url !== undefined ? deps.pages.pageOf(verification_url) : undefined;
    if (verifyEmail && !deps.mail.isConfigured())
      throw fail('INVALID_CONFIG', 'Addresses cannot be confirmed: EMAIL_TRANSPORT is not configured.');
    assertEmailField(email);
    assertEmailAllowed(email);
    await deps.policy.assert(password);
    return { email, password, names: { first_name, last_name }, role, page: verifyEmail ? page : undefined };
  }

  /** @throws FORBIDDEN, INVALID_CONFIG, INVALID_PAYLOAD, REQUESTS_EXCEEDED, Failures of FAILED_VALIDATION, SERVICE_UNAVAILABLE */
  return (ctx: HttpContext, body: unknown): Promise<void> =>
    withEqualDuration(deps.stallTime, async () => {
      const terms = await deps.readTerms();
      await deps.limit?.assertWithinLimit(ctx);
      const registration = await parse(body, terms);
      await withPlace(ctx, () => register(deps, registration));
    });
}

async function register(deps: RegisterUserDeps, registration: Registration): Promise<void> {
  await assertRoom(deps, registration);
  const { rows } = await deps.db.query<RegisteredUser>(deps.statements.FIND_BY_EMAIL, [registration.email]);
  const [known] = rows;
  const isDone = known ? await registerAgain(deps, known, registration) : await createUser(deps, registration);
  // The hash that a new user costs.
  if (!isDone) await deps.passwords.hash(registration.password, { user: null, ip: null });
}

async function assertRoom({ db, statements }: RegisterUserDeps, { page }: Registration): Promise<void> {
  if (page === undefined) return;
  const { rows } = await db.query<{ waiting: number }>(statements.COUNT_WAITING);
  if ((rows[0]?.waiting ?? 0) >= MOST_WAITING)
    throw fail('SERVICE_UNAVAILABLE', 'Too many registrations wait for their confirmation. Try again later.');
}

/** Creates the user and the mail, or neither. True also where another request has created such a user meanwhile. */
async function createUser(deps: RegisterUserDeps, { email, password, names, role, page }: Registration): Promise<true> {
  const { db, items, statements, systemCaller, lifetime } = deps;
  const status = page === undefined ? 'active' : 'unverified';
  try {
    await db.transaction(async () => {
      const id = await items.createOne(systemCaller(), USERS, { email, password, ...names, role, status });
      if (page === undefined) return;
      await db.query(statements.ADD, [id, lifetime]);
      await sendLink(deps, String(id), page);
    });
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'RECORD_NOT_UNIQUE') throw error;
  }
  return true;
}

/**
 * A user whose address is not confirmed gets the password of the latest registration that is mailed: its link confirms this
 * password, and earlier links no longer fit. Otherwise an attacker could register the address of another person first, and know the password. False where
 * nothing changes: for other users, and where too many mails were sent.
 */
async function registerAgain(
  deps: RegisterUserDeps,
  { id, status }: RegisteredUser,
  { password, names, page }: Registration,
): Promise<boolean> {
  const { db, items, statements, systemCaller, lifetime } = deps;
  if (status !== 'unverified' || page === undefined) return false;
  return db.transaction(async () => {
    // A request that confirms the address locks the user first, too.
    const [user] = (await db.query<RegisteredUser>(statements.LOCK_BY_ID, [id])).rows;
    if (user?.status !== 'unverified') return false;
    if ((await db.query(statements.COUNT_MAIL, [id, lifetime])).count === 0) return false;
    await items.updateOne(systemCaller(), USERS, id, { password, ...names });
    await sendLink(deps, id, page);
    return true;
  });
}

async function sendLink({ db, statements, mail, links }: RegisterUserDeps, id: string, page: string): Promise<void> {
  const [user] = (await db.query<RegisteredUser>(statements.LOCK_BY_ID, [id])).rows;
  if (!user) throw new Error('the registered user is gone');
  await mail.send({
    to: user.email,
    subject: 'Confirm your e-mail address',
    template: { name: 'user-registration', data: { email: user.email, url: buildLink(page, links.sign(user)) } },
  });
}
