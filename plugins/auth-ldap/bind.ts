import { BusyError, type Client, InvalidCredentialsError, ResultCodeError, UnavailableError } from 'ldapts';
import { fail } from '#kernel';
import { createProviderFailure } from '../auth-providers/library.ts';
import type { LdapUser } from './search.ts';
import type { LdapDirectory } from './settings.ts';

/** Binds as the entry that searches; nothing happens where searches are anonymous. @throws INVALID_CONFIG */
export async function bindService(
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

/** Binds as the user, which proves the password. @throws INVALID_CREDENTIALS */
export async function bindUser(client: Client, { dn }: LdapUser, password: string): Promise<void> {
  try {
    await client.bind(dn, password);
  } catch (error) {
    // Other results refuse this user as well, such as that of an entry without a password.
    const isAboutUser =
      error instanceof ResultCodeError && !(error instanceof BusyError || error instanceof UnavailableError);
    if (isAboutUser) throw fail('INVALID_CREDENTIALS', `the bind was refused: ${error.name}`);
    throw error;
  }
}
