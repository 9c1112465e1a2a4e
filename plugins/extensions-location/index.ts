import { join, resolve } from 'node:path';
import { BootFailure, commands, definePlugin } from '#kernel';
import type { BackedUpObjects } from '../backup/contract.ts';
import { bus, lock } from '../cluster/contract.ts';
import { migrations } from '../database/contract.ts';
import { extensionStatusControl, packageSources } from '../extensions/contract.ts';
import { storage } from '../storage/contract.ts';
import { createLocationCommands } from './commands.ts';
import manifest from './package.json' with { type: 'json' };
import { createPackageCache } from './package-cache.ts';
import { createLocationPackageSource } from './package-source.ts';
import { createBackedUpPackages, createPublishedPackages, publishedExtensionsMigration } from './published-packages.ts';

interface Config {
  readonly EXTENSIONS_LOCATION: string | undefined;
}

interface Shared {
  readonly DATA_PATH: string;
  readonly STORAGE_LOCATIONS: readonly string[];
}

export default definePlugin<Config, Shared>({
  manifest,
  register(host) {
    const { config, db, log } = host;
    const used = host.use({ bus, extensions: extensionStatusControl, lock, storage });
    const name = config.EXTENSIONS_LOCATION;
    if (name !== undefined && !config.STORAGE_LOCATIONS.includes(name)) {
      throw new BootFailure(manifest.name, 'config', `EXTENSIONS_LOCATION is ${name}, which is no storage location`, {
        remedy: `set it to one of STORAGE_LOCATIONS (${config.STORAGE_LOCATIONS.join(', ')}), or unset it`,
      });
    }
    host.contribute(migrations, publishedExtensionsMigration(db));
    const published = createPublishedPackages(db);
    const location = () => (name === undefined ? undefined : used.storage.at(name));
    for (const command of createLocationCommands({
      location,
      published,
      control: used.extensions,
      lock: used.lock,
    }))
      host.contribute(commands, command);
    if (name === undefined) return;
    host.contribute<BackedUpObjects>('backup.objects', createBackedUpPackages(name));
    const cache = createPackageCache(resolve(config.DATA_PATH, join('cache', 'extensions')), () =>
      used.storage.at(name),
    );
    const source = createLocationPackageSource({ published, cache, bus: used.bus, log });
    host.contribute(packageSources, source);
    host.onStop(() => source.stop());
  },
});
