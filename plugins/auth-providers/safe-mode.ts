import type { Log } from '#kernel';
import type { ProviderDriverDeclaration } from './contract.ts';
import type { ProviderVariables } from './variables.ts';

/**
 * Leaves out the providers whose drivers belong to packages, which SAFE_MODE does not load: the service has to start then, and commands
 * have to work. They are not offered for sign-in.
 */
export function withLoadedDrivers(
  providers: readonly ProviderVariables[],
  drivers: ReadonlyMap<string, ProviderDriverDeclaration>,
  log: Log,
): readonly ProviderVariables[] {
  return providers.filter(({ name, texts }) => {
    const driver = texts.get('DRIVER')?.trim();
    if (driver === undefined || drivers.has(driver)) return true;
    log.warn({ provider: name, driver }, 'SAFE_MODE is on: the driver of a sign-in provider is not loaded');
    return false;
  });
}
