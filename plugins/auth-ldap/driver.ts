import { BusyError, type Client, InvalidCredentialsError, ResultCodeError, UnavailableError } from 'ldapts';
import { Failure, fail } from '#kernel';
import type { Credentials } from '../auth/contract.ts';
import type { CredentialsProviderDriver, ProviderProfile } from '../auth-providers/contract.ts';
import { createProviderFailure } from '../auth-providers/library.ts';
import { useLdapConnection } from './connection.ts';
import { findLdapGroups, findLdapUsers, type LdapUser } from './search.ts';
import type { LdapDirectory } from './settings.ts';

/** The typed credentials, as `LDAP_CREDENTIALS_SCHEMA` describes them. */
interface TypedCredentials {
  readonly identifier?: string;
  readonly email?: string;
  readonly password: string;
}

/** Signs users in by a bind with their password. */
export function createLdapDriver(directory: LdapDirectory): CredentialsProviderDriver {
  return {
    async authenticate(credentials: Credentials, { signal }) {
      const { password, ...typed } = credentials as unknown as TypedCredentials;
      // A directory takes a bind without a password for an anonymous one, and answers that it succeeded (RFC 4513, 5.1.2).
      if (password === '') throw fail('INVALID_CREDENTIALS', 'the password is empty');
      try {
        return await useLdapConnection(directory, signal, async (client) => {
          await bindService(client, directory);
          const user = await findOneUser(client, directory, typed);
          const groups = await findLdapGroups(client, directory.groups, user.dn);
          await bindUser(client, user, password);
          return toProfile(user, groups, directory);
        });
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (error instanceof Failure) throw error;
        throw createProviderFailure(
          'SERVICE_UNAVAILABLE',
          `The sign-in provider ${directory.provider} does not work.`,
          `the directory at ${directory.url.host} does not answer as it should: ${(error as Error)?.message ?? error}`,
        );
      }
    },
  };
}

async function bindService(
  client: Client,
  { provider, bindDn, bindPassword, variableOf }: LdapDirectory,
): Promise<void> {
  if (bindDn === undefined) return;
  const refuse = (reason: string) =>
    createProviderFailure(
      'INVALID_CONFIG',
      `The sign-in provider ${provider} does not accept this service.`,
      `${reason}: check ${variableOf('BIND_DN')} and ${variableOf('BIND_PASSWORD')}`,
    );
  const password = await bindPassword();
  if (!password) throw refuse('there is a name for the directory and no password');
  try {
    await client.bind(bindDn, password);
  } catch (error) {
    if (!(error instanceof InvalidCredentialsError)) throw error;
    throw refuse('the directory refuses the name and password of the service');
  }
}

async function findOneUser(
  client: Client,
  directory: LdapDirectory,
  { identifier, email }: Omit<TypedCredentials, 'password'>,
): Promise<LdapUser> {
  const { users } = directory;
  const typed =
    email === undefined
      ? { attribute: users.identifier, text: identifier as string }
      : { attribute: users.email, text: email };
  const [user, second] = await findLdapUsers(client, directory, typed);
  if (!user) throw fail('INVALID_CREDENTIALS', 'the directory knows no such user');
  if (second) throw fail('INVALID_CREDENTIALS', 'several entries of the directory have this name');
  if (user.externalIdentifier === '') throw fail('INVALID_CREDENTIALS', 'the entry lacks IDENTIFIER_ATTRIBUTE');
  return user;
}

async function bindUser(client: Client, user: LdapUser, password: string): Promise<void> {
  try {
    await client.bind(user.dn, password);
  } catch (error) {
    // Other results refuse this user as well, such as that of an entry without a password.
    const isAboutUser =
      error instanceof ResultCodeError && !(error instanceof BusyError || error instanceof UnavailableError);
    if (isAboutUser) throw fail('INVALID_CREDENTIALS', `the bind was refused: ${error.name}`);
    throw error;
  }
  // Said to the owner of the password only.
  if (user.isDisabled) throw fail('USER_SUSPENDED', 'the account is disabled in the directory');
}

const toProfile = (user: LdapUser, groups: readonly string[], { users }: LdapDirectory): ProviderProfile => ({
  identifier: user.externalIdentifier,
  email: user.email,
  emailVerified: users.isEmailVerified ? true : undefined,
  firstName: user.firstName,
  lastName: user.lastName,
  groups,
  claims: { dn: user.dn, email: user.email, groups },
});
