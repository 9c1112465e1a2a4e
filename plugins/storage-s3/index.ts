import { definePlugin } from '#kernel';
import { storageDrivers } from '../storage/contract.ts';
import manifest from './package.json' with { type: 'json' };
import { parseS3Settings } from './settings.ts';

export default definePlugin({
  manifest,
  register({ contribute }) {
    contribute(storageDrivers, {
      name: 's3',
      async open(settings) {
        const checked = parseS3Settings(settings);
        const { openS3Driver } = await import('./driver.ts');
        return openS3Driver(checked);
      },
    });
  },
});
