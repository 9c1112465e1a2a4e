import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { boot, type ConfigKey } from '#kernel/boot';
import { listCorePlugins } from '../../plugins/core-plugins.ts';
import { type PluginRegistrations, readPluginRegistrations } from './reader/index.ts';

/** The members of a core plugin's manifest that the reference shows. */
export interface CorePluginManifestExcerpt {
  /** The plugin's folder. */
  readonly plugin: string;
  readonly config: Readonly<Record<string, ConfigKey>>;
  readonly capabilities: Readonly<Record<string, unknown>>;
}

/** The manifests of all core plugins, in the order of the preset. */
export function readCorePluginManifests(): readonly CorePluginManifestExcerpt[] {
  return listCorePlugins().plugins.map((url) => {
    const text = readFileSync(new URL('package.json', url), 'utf8');
    const { config = {}, capabilities = {} } = JSON.parse(text)['service:extension'];
    const { shared: _shared, ...own } = config;
    return { plugin: basename(fileURLToPath(url)), config: own, capabilities };
  });
}

/**
 * Boots the core plugins, with every optional route switched on, together with the plugin in `reader/`, which reads what they
 * register. Starts no plugin and connects to no database.
 */
export async function loadCorePluginRegistrations(): Promise<PluginRegistrations> {
  const kernel = await boot(
    { plugins: [...listCorePlugins().plugins, new URL('./reader/', import.meta.url)] },
    {
      environment: {
        LOG_LEVEL: 'silent',
        CONFIG_PATH: '/dev/null',
        EXTENSIONS_PATH: '/dev/null',
        TUS_ENABLED: 'true',
        METRICS_ENABLED: 'true',
        AUTH_EXAMPLE_SCIM_TOKEN: 'unused',
      },
    },
  );
  const all = readPluginRegistrations();
  await kernel.stop();
  return all;
}
