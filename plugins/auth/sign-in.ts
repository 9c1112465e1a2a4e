import { randomBytes } from 'node:crypto';
import { type Caller, type EventsApi, fail } from '#kernel';
import type { Access } from '../access/contract.ts';
import type { Activity } from '../activity/contract.ts';
import type { Db } from '../database/contract.ts';
import type { clientOf } from '../http/contract.ts';
import type { Passwords } from '../passwords/contract.ts';
import type { AccessTokens } from './access-tokens.ts';
import { checkAddress } from './identify.ts';
import type { Owner, Sessions } from './sessions.ts';
import { table } from './tables.ts';

export interface SignInDeps {
  readonly db: Db;
  readonly access: Pick<Access, 'role'>;
  readonly activity: Pick<Activity, 'record'>;
  readonly events: EventsApi;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly tokens: AccessTokens;
}

/** Both tokens of somebody who signed in. */
export interface Grant {
  readonly access: string;
  readonly refresh: string;
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

type Client = ReturnType<typeof clientOf>;
type Person = Owner & { readonly password: string | null; readonly tfa_secret: string | null };

const PROVIDER = 'default';
const wrong = (detail: string) => fail('INVALID_CREDENTIALS', detail);

export interface SignIn {
  login(credentials: Credentials, client: Client, caller: Caller): Promise<Grant>;
  refresh(token: string, client: Client, caller: Caller): Promise<Grant>;
}

export function createSignIn(deps: SignInDeps): SignIn {
  const { db, access, activity, events, passwords, sessions, tokens } = deps;
  let decoy: Promise<string> | undefined;

  /** An unknown address takes as long as a wrong password. */
  async function matches(person: Person | undefined, password: string): Promise<boolean> {
    decoy ??= passwords.hash(randomBytes(16).toString('hex'));
    const stored = person?.password ?? (await decoy);
    return (await passwords.verify(stored, password)) && person?.password !== null && person !== undefined;
  }

  async function accessToken(owner: Owner, type: 'login' | 'refresh', caller: Caller): Promise<string> {
    const claims = {
      id: owner.id,
      role: owner.role,
      app_access: owner.app_access ?? false,
      admin_access: owner.admin_access ?? false,
    };
    const about = { caller, status: 'pending', user: owner.id, provider: owner.provider, type };
    return tokens.sign(await events.filter(['auth.jwt'], claims, about));
  }

  return {
    async login(given, client, caller) {
      const found = await findPerson(db, given.email);
      const about = { caller, user: found?.id, provider: PROVIDER };
      const { password } = await events.filter(['auth.login'], given, { ...about, status: 'pending' });
      const matching = await matches(found, password);
      if (!found) throw wrong('no user has this e-mail address');
      if (found.provider !== PROVIDER) throw fail('INVALID_PROVIDER', `the user signs in by ${found.provider}`);
      if (!matching) throw wrong('wrong password');
      if (found.status !== 'active') throw fail('USER_SUSPENDED', `the user is ${found.status}`);
      // Nothing checks a second factor yet, and whoever has one must not get in without it.
      if (found.tfa_secret !== null) throw fail('INVALID_OTP', 'two-factor sign-in is not available');
      await checkAddress(access, found.role, client.ip);
      const token = await accessToken(found, 'login', caller);
      const refresh = await sessions.open(found, client);
      if (refresh === undefined) throw wrong('the account changed while signing in');
      const who = { ...caller, ...client, user: found.id };
      await activity.record(who, { action: 'login', collection: 'platform_users', item: found.id });
      events.action(['auth.login'], { ...about, status: 'success', payload: { email: given.email } });
      return { access: token, refresh };
    },

    async refresh(presented, client, caller) {
      const rotated = await sessions.rotate(presented, client);
      switch (rotated.state) {
        case 'renewed':
          return { access: await accessToken(rotated.owner, 'refresh', caller), refresh: rotated.token };
        case 'expired':
          throw fail('TOKEN_EXPIRED', 'the refresh token is too old');
        case 'inactive':
          throw fail('USER_SUSPENDED', 'the user is not active');
        case 'elsewhere':
          throw fail('INVALID_IP', `${client.ip} is not among the addresses of the role`);
        case 'unknown':
          throw wrong('unknown refresh token');
      }
    },
  };
}

async function findPerson(db: Db, email: string): Promise<Person | undefined> {
  if (email.includes('\0')) return undefined;
  const { rows } = await db.query<Person>(
    `select u.id, u.password, u.status, u.provider, u.tfa_secret, u.role, r.admin_access, r.app_access
    from ${table(db, 'users')} u left join ${table(db, 'roles')} r on r.id = u.role where lower(u.email) = lower($1)`,
    [email],
  );
  return rows[0];
}
