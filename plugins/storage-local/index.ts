import { definePlugin } from '#kernel';
import { storageDrivers } from '../storage/contract.ts';
import { openLocalStorageDriver } from './driver.ts';
import manifest from './package.json' with { type: 'json' };
import { prepareStorageRootFolder } from './root.ts';

interface Shared {
  DATA_PATH: string;
}

export default definePlugin<Record<never, never>, Shared>({
  manifest,
  register({ config, contribute }) {
    contribute(storageDrivers, {
      name: 'local',
      open: async (settings) => openLocalStorageDriver(await prepareStorageRootFolder(settings, config.DATA_PATH)),
    });
  },
});
