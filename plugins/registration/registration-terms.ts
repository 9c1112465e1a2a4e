import { type EventsApi, fail } from '#kernel';
import { type AccessControl, PUBLIC_ROLE_ID } from '../access/contract.ts';
import { matchesFilter } from '../access/library.ts';
import type { SettingsService } from '../settings/contract.ts';

interface Deps {
  readonly access: Pick<AccessControl, 'role'>;
  readonly settings: SettingsService;
  /** AUTH_DISABLE_DEFAULT: registered users could not sign in. */
  readonly isPasswordSignInOff: boolean;
}

/** What the settings say of registrations. */
export interface RegistrationTerms {
  readonly verifyEmail: boolean;
  /** The id of the role of registered users, which is never that of an admin. */
  readonly role: string | null;
  /** @throws FORBIDDEN for an address that `public_registration_email_filter` rejects */
  assertEmailAllowed(email: string): void;
}

/**
 * Creates the function that reads the settings of registration.
 * @throws FORBIDDEN where registration is off, INVALID_CONFIG where the role is that of an admin
 */
export const createReadRegistrationTerms =
  ({ access, settings, isPasswordSignInOff }: Deps) =>
  async (): Promise<RegistrationTerms> => {
    const values = await settings.current();
    if (!values.public_registration || isPasswordSignInOff) throw fail('FORBIDDEN', 'registration is off');
    const role = await access.role(values.public_registration_role);
    // The setting refuses such a role, but a role may become that of an admin later.
    if (role?.admin) throw fail('INVALID_CONFIG', 'public_registration_role must not be the role of an admin.');
    const filter = values.public_registration_email_filter;
    return {
      verifyEmail: values.public_registration_verify_email,
      role: role === undefined || role.id === PUBLIC_ROLE_ID ? null : role.id,
      assertEmailAllowed(email) {
        // In lower case, so that a filter that rejects a domain rejects all its spellings.
        if (!matchesFilter(filter, { email: email.toLowerCase() }))
          throw fail('FORBIDDEN', 'public_registration_email_filter rejects the address');
      },
    };
  };

const ROLE = 'public_registration_role';
const FILTER = 'public_registration_email_filter';

/** Registers the rules of the settings of registration. A wrong filter would reject every address. */
export function registerSettingRules({ access }: Pick<Deps, 'access'>, events: Pick<EventsApi, 'onFilter'>): void {
  for (const event of ['settings.create', 'settings.update']) {
    events.onFilter(event, async (payload) => {
      const { [ROLE]: role, [FILTER]: filter } = payload as Readonly<Record<string, unknown>>;
      if (typeof role === 'string') {
        const id = role.toLowerCase();
        if (id === PUBLIC_ROLE_ID || (await access.role(id))?.admin)
          throw invalidSetting(ROLE, 'must be a role that users may have, and not that of an admin');
      }
      const isObject = typeof filter === 'object' && !Array.isArray(filter);
      if (filter !== undefined && !isObject) throw invalidSetting(FILTER, 'must be a filter or null');
      return undefined;
    });
  }
}

const invalidSetting = (field: string, expected: string) =>
  fail('INVALID_PAYLOAD', `"${field}" ${expected}.`, { field, path: [field] });
