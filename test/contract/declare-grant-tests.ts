import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { boot } from '#kernel/boot';
import { CORE_PLUGIN_FLOORS } from '../../plugins/core-plugins.ts';
import { type CorePluginFolderContents, projectRoot, readCorePluginFolders } from '../support/plugin-folders.ts';
import { packageNameOf, readTypeScriptFiles } from '../support/sources.ts';
import { silentSettings } from '../support/test-plugins.ts';
import { findDenialWithoutGrant } from './grant-denials.ts';
import { grantsOf, type ManifestGrant, requiredPluginsOf, writePackageWithoutGrant } from './manifest-grants.ts';
import { OPTIONAL_FEATURES } from './optional-features.ts';

interface Denial {
  readonly plugin?: string;
  readonly detail: string;
}

// Turns on features that are off by default, so that plugins use their grants for them too.
const environment = { ...silentSettings, ...OPTIONAL_FEATURES, EXTENSIONS_PATH: '/dev/null', CORS_ENABLED: 'true' };

/** Boots the plugin without the grant, together with the plugins it needs: the denial while it registers, undefined for none. */
async function denialAtRegister(grant: ManifestGrant, url: URL): Promise<Denial | undefined> {
  const plugins = requiredPluginsOf(grant.plugin).map(({ folder }) =>
    folder === grant.plugin.folder ? url : pathToFileURL(`${join(projectRoot, 'plugins', folder)}/`),
  );
  try {
    const kernel = await boot({ plugins }, { environment });
    await kernel.stop();
    return undefined;
  } catch (error) {
    const { plugin, message, cause } = error as { plugin?: string; message: string; cause?: { code?: string } };
    if (cause?.code !== 'CAPABILITY_DENIED') throw error;
    return { plugin, detail: message };
  }
}

/** Whether a file of the plugin imports or resolves the Node module or package of a `native` grant. */
function isImported({ plugin, path: [, , kind, name = ''] }: ManifestGrant): boolean {
  const sources = [...plugin.sources, ...(plugin.folder === 'sandbox' ? readTypeScriptFiles('sandbox') : [])];
  return sources.some(({ imports, text }) =>
    kind === 'modules'
      ? imports.some(({ specifier }) => specifier === `node:${name}`)
      : imports.some(({ specifier }) => packageNameOf(specifier) === name) || text.includes(`.resolve('${name}')`),
  );
}

/** Declares one test for each grant of the plugins on a floor: without the grant, the plugin must be denied something. */
export function declareGrantTests(floor: (typeof CORE_PLUGIN_FLOORS)[number]['floor']): void {
  const folders: readonly string[] = CORE_PLUGIN_FLOORS.find((one) => one.floor === floor)?.plugins ?? [];
  describe(`grants of ${floor}`, function () {
    this.timeout(120_000);
    for (const plugin of readCorePluginFolders().filter(({ folder }) => folders.includes(folder)))
      describePlugin(plugin);
  });
}

function describePlugin(plugin: CorePluginFolderContents): void {
  describe(plugin.folder, () => {
    for (const grant of grantsOf(plugin)) {
      const [section, name] = grant.path;
      it(`is denied by name when its manifest lacks ${grant.path.join(' → ')}`, async () => {
        if (section === 'capabilities' && name === 'native') {
          expect(isImported(grant), 'no file imports it: remove it from the manifest').to.equal(true);
          return;
        }
        const { url, remove } = await writePackageWithoutGrant(grant);
        try {
          const denial = (await denialAtRegister(grant, url)) ?? (await findDenialWithoutGrant(grant, url));
          expect(denial?.detail, 'nothing missed it: remove it from the manifest').to.contain(plugin.name);
        } finally {
          await remove();
        }
      });
    }
  });
}
