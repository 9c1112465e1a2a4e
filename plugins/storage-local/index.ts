import { definePlugin } from '#kernel';
import { storageDrivers } from '../storage/contract.ts';
import { openLocalDriver } from './driver.ts';
import manifest from './package.json' with { type: 'json' };
import { prepareRoot } from './root.ts';

interface Shared {
  DATA_PATH: string;
}

export default definePlugin<Record<never, never>, Shared>({
  manifest,
  register({ config, contribute }) {
    contribute(storageDrivers, {
      name: 'local',
      open: async (settings) => openLocalDriver(await prepareRoot(settings, config.DATA_PATH)),
    });
  },
});
