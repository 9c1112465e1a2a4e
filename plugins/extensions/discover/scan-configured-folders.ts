import type { Log, PackagesApi } from '#kernel';
import type { SourcePackage } from '../contract.ts';
import type { DiscoveredExtension } from '../extension-types.ts';
import type { ExtensionsConfig } from '../settings.ts';
import { discoverPackages } from './discover.ts';
import type { DiscoverDeps } from './packages.ts';

interface Deps extends Pick<DiscoverDeps, 'subjects' | 'settings'> {
  readonly config: ExtensionsConfig;
  readonly packages: Pick<PackagesApi, 'loaded'>;
  readonly log: Pick<Log, 'warn'>;
  /** Packages that another plugin has brought. */
  readonly brought?: readonly SourcePackage[];
}

/** Finds all extensions in the configured folders. Names of the kernel and of loaded plugins are reserved. */
export function scanPackages({
  config,
  packages,
  log,
  subjects,
  settings,
  brought,
}: Deps): Promise<readonly DiscoveredExtension[]> {
  const reserved = new Set(['kernel', ...packages.loaded().map(({ name }) => name)]);
  return discoverPackages(
    { local: config.EXTENSIONS_PATH, project: config.PACKAGE_FILE_LOCATION, ...(brought ? { brought } : {}) },
    {
      subjects,
      settings,
      config,
      warn: (name, what) => log.warn({ extension: name }, `${name}: ${what}`),
      isReservedName: (name) => reserved.has(name.toLowerCase()),
    },
  );
}
