import type { ContributedAuthDriver, SignInProviders } from './contract.ts';
import { LOCAL_PROVIDER } from './driver.ts';

/** The contributed drivers as sign-in pages show them. */
export const createSignInProviders = (
  drivers: () => ReadonlyMap<string, ContributedAuthDriver>,
  isDefaultDisabled: boolean,
): SignInProviders => ({
  isDefaultDisabled,
  current: () =>
    [...drivers().values()]
      .filter(({ terms }) => terms.provider !== LOCAL_PROVIDER)
      .map(({ driver, terms: { provider, name, label, icon } }) => ({
        provider,
        driver: name,
        label: label ?? null,
        icon: icon ?? null,
        schema: driver.kind === 'credentials' ? driver.schema : undefined,
      })),
});
