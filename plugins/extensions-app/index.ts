import { definePlugin } from '#kernel';
import { appBundles } from '../extensions/contract.ts';
import { createExtensionAppBundle } from './app-bundle.ts';
import manifest from './package.json' with { type: 'json' };

export default definePlugin({
  manifest,
  register(host) {
    host.contribute(appBundles, createExtensionAppBundle(host.log));
  },
});
