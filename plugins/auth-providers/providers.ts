import { fail } from '#kernel';
import type { AuthDriver, AuthenticatedUser } from '../auth/contract.ts';
import { toClientNetworkKey } from '../outbound/library.ts';
import type { AccountRules } from './account-rules.ts';
import type {
  CredentialsProviderDriver,
  ProviderDriverDeclaration,
  ProviderKeys,
  ProviderProfile,
  ProviderRoles,
  ProviderSettings,
  RedirectProviderDriver,
} from './contract.ts';
import { codeOf, type ThrottledLog } from './failure-log.ts';
import { COMMON_PROVIDER_KEYS, REDIRECT_PROVIDER_KEYS } from './provider-keys.ts';
import { type OpenProviderSettings, readProviderSettings } from './provider-settings.ts';
import type { ProviderTokenStore } from './provider-tokens.ts';
import { parseProviderRoles } from './role-mapping.ts';
import type { SingleUse } from './single-use.ts';
import { reasonOf } from './unavailable.ts';
import { createProviderBootFailure, type ProviderVariables } from './variables.ts';

/** A provider whose driver is open. */
export interface OpenProvider {
  readonly settings: OpenProviderSettings;
  readonly declaration: ProviderDriverDeclaration;
  readonly driver: CredentialsProviderDriver | RedirectProviderDriver;
  /** What the settings say of roles. */
  readonly roles: ProviderRoles;
  /** Rules of sign-ins, which map no roles where another plugin does. */
  readonly rules: AccountRules;
  /** What `auth` knows of the provider; the very object that is contributed to `auth.drivers`. */
  readonly authDriver: AuthDriver;
}

interface Deps {
  readonly declarations: () => ReadonlyMap<string, ProviderDriverDeclaration>;
  readonly providerKeys: () => readonly ProviderKeys[];
  readonly publicUrl: string;
  readonly useOnce: SingleUse['use'];
  readonly tokens: ProviderTokenStore;
  readonly logFailure: ThrottledLog;
  /** Finds or registers the user of a provider. */
  readonly resolve: (provider: OpenProvider, profile: ProviderProfile) => Promise<AuthenticatedUser>;
}

/** Opens a provider by its driver. @throws BootFailure with the variable to correct */
export async function openProvider(variables: ProviderVariables, deps: Deps): Promise<OpenProvider> {
  const { name, prefix, texts } = variables;
  const declaration = findDeclaration(variables, deps.declarations());
  const { kind } = declaration;
  const further = deps.providerKeys();
  const redirectKeys = kind === 'redirect' ? REDIRECT_PROVIDER_KEYS : {};
  const settings = await readProviderSettings(variables, {
    // A driver cannot change what the keys of every provider mean.
    keys: {
      ...declaration.keys,
      ...Object.assign({}, ...further.map(({ keys }) => keys)),
      ...COMMON_PROVIDER_KEYS,
      ...redirectKeys,
    },
    publicUrl: deps.publicUrl,
    useOnce: (id, lifetime) => deps.useOnce(name, id, lifetime),
  });
  if (kind === 'redirect') assertPublicUrl(name, deps.publicUrl);
  const roles = parseProviderRoles(settings);
  const rules: AccountRules = {
    provider: name,
    allowRegistration: settings.value('ALLOW_PUBLIC_REGISTRATION'),
    syncUserInfo: settings.value('SYNC_USER_INFO'),
    requireVerifiedEmail: settings.value('REQUIRE_VERIFIED_EMAIL'),
    trustsSecondFactor: settings.value('TRUST_SECOND_FACTOR'),
    roles: (await hasRolesOfOtherPlugin(settings, further)) ? { ...roles, mapping: undefined } : roles,
  };
  const driver = await declaration.open(settings).catch((error) => {
    if (error?.name === 'BootFailure') throw error;
    throw createProviderBootFailure(
      `the sign-in provider ${name} cannot be opened by the driver ${texts.get('DRIVER')}: ${reasonOf(error)}`,
      `correct the settings that begin with ${prefix}`,
      error,
    );
  });
  const open = { settings, declaration, driver, roles, rules };
  const provider: OpenProvider = { ...open, authDriver: createAuthDriver(open, () => provider, deps) };
  return provider;
}

async function hasRolesOfOtherPlugin(settings: ProviderSettings, further: readonly ProviderKeys[]): Promise<boolean> {
  for (const one of further) if (await one.decidesRoles(settings)) return true;
  return false;
}

function findDeclaration({ name, prefix, texts }: ProviderVariables, known: ReturnType<Deps['declarations']>) {
  const driver = texts.get('DRIVER')?.trim();
  const declaration = known.get(driver ?? '');
  if (declaration) return declaration;
  const names = [...known.keys()].sort().join(', ');
  throw createProviderBootFailure(
    driver === undefined
      ? `AUTH_PROVIDERS names ${name}, which has no driver`
      : `the sign-in provider ${name} has the driver ${driver}, which no plugin brings`,
    `set ${prefix}DRIVER to one of ${names}, or add the plugin that brings it: third-party packages are not loaded under SAFE_MODE`,
  );
}

function assertPublicUrl(name: string, publicUrl: string): void {
  if (URL.canParse(publicUrl)) return;
  throw createProviderBootFailure(
    `the sign-in provider ${name} sends browsers back to PUBLIC_URL, which is no absolute address`,
    'set PUBLIC_URL to the address under which browsers reach the service, such as https://content.example.com',
  );
}

function createAuthDriver(
  { settings, declaration, driver, rules }: Omit<OpenProvider, 'authDriver'>,
  self: () => OpenProvider,
  { declarations, tokens, resolve, logFailure }: Deps,
): AuthDriver {
  const info = {
    name: declaration.name,
    provider: settings.name,
    icon: settings.value('ICON'),
    label: settings.value('LABEL'),
    ...(rules.trustsSecondFactor ? { verifiesSecondFactor: true as const } : {}),
  };
  const { refresh } = driver;
  const hooks = refresh && {
    refresh: ({ id }: { readonly id: string }) =>
      tokens.refresh(id, (before) => settings.boundedCall((call) => refresh.call(driver, before, call), `user ${id}`)),
  };
  if (declaration.kind === 'redirect') return { kind: 'redirect', ...info, ...hooks };
  return {
    kind: 'credentials',
    ...info,
    ...hooks,
    schema: declaration.schema,
    identifiers: declaration.identifiers,
    async authenticate(credentials, client) {
      assertContributed(self(), declarations());
      try {
        const profile = await settings.boundedCall(
          (call) => (driver as CredentialsProviderDriver).authenticate(credentials, { ...call, client }),
          toClientNetworkKey(client.ip ?? null),
        );
        return await resolve(self(), profile);
      } catch (error) {
        // Wrong passwords are ordinary.
        if (codeOf(error) !== 'INVALID_CREDENTIALS') logFailure(settings.name, codeOf(error), error);
        throw error;
      }
    },
  };
}

/** The plugin of the driver may have been unloaded. @throws INVALID_PROVIDER */
export function assertContributed(
  { declaration, settings }: OpenProvider,
  declarations: ReadonlyMap<string, ProviderDriverDeclaration>,
): void {
  if (declarations.get(declaration.name) !== declaration)
    throw fail('INVALID_PROVIDER', `the driver of ${settings.name} is no longer there`);
}
