import type { PackageConsent } from './contract.ts';
import { LoadFailure } from './model.ts';

const refuse = async (): Promise<LoadFailure> =>
  new LoadFailure('CONSENT_REQUIRED', 'No plugin keeps consent. Add extensions-consent to the composition.');

/** For a composition without a plugin that keeps consent: nothing of third parties is loaded. */
export const noConsent: PackageConsent = {
  check: refuse,
  checkPlugin: refuse,
  retainOnly() {},
  retainOnlyPlugins() {},
};
