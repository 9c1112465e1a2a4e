import type { Client } from 'ldapts';
import { Failure, fail } from '#kernel';
import type { Credentials } from '../auth/contract.ts';
import type { CredentialsProviderDriver, ProviderProfile } from '../auth-providers/contract.ts';
import { createProviderFailure } from '../auth-providers/library.ts';
import { bindService, bindUser } from './bind.ts';
import { checkDirectory } from './check.ts';
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
  /** Finds the user with the bind of the service; `prove` runs on the same connection. */
  async function readProfile(
    signal: AbortSignal,
    typed: Omit<TypedCredentials, 'password'>,
    prove: (client: Client, user: LdapUser) => Promise<void>,
  ): Promise<ProviderProfile> {
    try {
      return await useLdapConnection(directory, signal, async (client) => {
        await bindService(client, directory);
        const user = await findOneUser(client, directory, typed);
        const groups = await findLdapGroups(client, directory.groups, user.dn);
        await prove(client, user);
        assertEnabled(user);
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
  }

  return {
    async authenticate(credentials: Credentials, { signal }) {
      const { password, ...typed } = credentials as unknown as TypedCredentials;
      // A directory takes a bind without a password for an anonymous one, and answers that it succeeded (RFC 4513, 5.1.2).
      if (password === '') throw fail('INVALID_CREDENTIALS', 'the password is empty');
      return readProfile(signal, typed, (client, user) => bindUser(client, user, password));
    },

    check: (call) => checkDirectory(directory, call),

    lookUp: (user, { signal }) =>
      readProfile(signal, user.includes('@') ? { email: user } : { identifier: user }, async () => {}),
  };
}

/** An account that may not be used any more is named as such to the owner of its password only. */
function assertEnabled({ refusal }: LdapUser): void {
  if (refusal !== undefined) throw fail('USER_SUSPENDED', refusal);
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

const toProfile = (user: LdapUser, groups: readonly string[], { users }: LdapDirectory): ProviderProfile => ({
  identifier: user.externalIdentifier,
  email: user.email,
  emailVerified: users.isEmailVerified ? true : undefined,
  firstName: user.firstName,
  lastName: user.lastName,
  groups,
  claims: { dn: user.dn, email: user.email, groups },
});
