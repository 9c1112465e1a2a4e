import type { PackageConsentDecider } from './contract.ts';
import { LoadFailure } from './extension-types.ts';

const refuse = async (): Promise<LoadFailure> =>
  new LoadFailure('CONSENT_REQUIRED', 'No plugin keeps consent. Add extensions-consent to the composition.');

/** Used in a composition without a consent plugin: no third-party package is loaded. */
export const refusingPackageConsent: PackageConsentDecider = {
  check: refuse,
  checkPlugin: refuse,
  retainOnly() {},
  retainOnlyPlugins() {},
};
