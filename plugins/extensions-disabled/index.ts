import { definePlugin } from '#kernel';
import { migrations } from '../database/contract.ts';
import { disabledPackages } from '../extensions/contract.ts';
import { createDisabledPackageStore, disabledExtensionsMigration } from './disabled-packages.ts';
import manifest from './package.json' with { type: 'json' };

export default definePlugin({
  manifest,
  register({ contribute, db }) {
    contribute(migrations, disabledExtensionsMigration(db));
    contribute(disabledPackages, createDisabledPackageStore(db));
  },
});
