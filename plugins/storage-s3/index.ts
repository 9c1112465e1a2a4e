import { definePlugin } from '#kernel';
import { storageDrivers } from '../storage/contract.ts';
import { openS3 } from './driver.ts';
import manifest from './package.json' with { type: 'json' };
import { settingsOf } from './settings.ts';

export default definePlugin({
  manifest,
  register({ contribute }) {
    contribute(storageDrivers, { name: 's3', open: async (settings) => openS3(settingsOf(settings)) });
  },
});
