import type { Log, PackagesApi } from '#kernel';
import type { DiscoveredExtension } from '../model.ts';
import type { ExtensionsConfig } from '../settings.ts';
import { discover } from './discover.ts';
import type { DiscoverDeps } from './packages.ts';

interface Deps extends Pick<DiscoverDeps, 'subjects' | 'settings'> {
  readonly config: ExtensionsConfig;
  readonly packages: Pick<PackagesApi, 'loaded'>;
  readonly log: Pick<Log, 'warn'>;
}

/** All extensions of the configured folders as they are now. Plugins that run keep their names. */
export function scan({ config, packages, log, subjects, settings }: Deps): Promise<readonly DiscoveredExtension[]> {
  const own = new Set(['kernel', ...packages.loaded().map(({ name }) => name)]);
  return discover(
    { local: config.EXTENSIONS_PATH, project: config.PACKAGE_FILE_LOCATION },
    {
      subjects,
      settings,
      config,
      warn: (name, what) => log.warn({ extension: name }, `${name}: ${what}`),
      isReservedName: (name) => own.has(name.toLowerCase()),
    },
  );
}
