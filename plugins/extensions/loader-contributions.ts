import type { Host } from '#kernel';
import type { ConfinedRuntimeState } from '../sandbox/contract.ts';
import {
  appBundles,
  confinedLoaders,
  consentDeciders,
  type DisabledPackages,
  disabledPackages,
  fullAuthorityLoaders,
  type PackageConsentDecider,
  type PackageSource,
  packageSources,
  type RequiredPackageGuard,
  requiredPackageGuards,
} from './contract.ts';
import { type ExtensionAppBundle, LoadFailure } from './extension-types.ts';
import type { LoadDeps } from './load/loader-dependencies.ts';
import { refusingPackageConsent } from './missing-consent-plugin.ts';

/** What other plugins contribute to loading packages, read from the facets. */
export interface LoaderContributions extends Pick<LoadDeps, 'loadFull' | 'confined' | 'runtime' | 'runtimeState'> {
  readonly appBundle: ExtensionAppBundle;
  readonly consent: PackageConsentDecider;
  /** Undefined without a plugin that keeps required packages. */
  readonly requirements: () => RequiredPackageGuard | undefined;
  /** Undefined without a plugin that keeps which extensions are switched off. */
  readonly disabled: () => DisabledPackages | undefined;
  /** Undefined without a plugin that brings packages. */
  readonly source: () => PackageSource | undefined;
  /** Called once, after the first load of the process. */
  afterFirstLoad(): Promise<void>;
}

const createMissing = (what: string) => new LoadFailure('REGISTRATION_FAILED', `Nothing here runs ${what}.`);
const NOT_REQUIRED: ConfinedRuntimeState = { state: 'not-required', posture: null };
const UNAVAILABLE: ConfinedRuntimeState = {
  state: 'unavailable',
  reason: 'no plugin runs confined code',
  posture: null,
};

/** Loaders, consent and browser builds. Each call reads the facets, so that a contribution made later counts. */
export function readLoaderContributions({ read }: Pick<Host, 'read'>): LoaderContributions {
  const consent = (): PackageConsentDecider => read(consentDeciders) ?? refusingPackageConsent;
  const confined = () => {
    const loader = read(confinedLoaders);
    if (!loader) throw createMissing('confined code');
    return loader;
  };
  return {
    consent: {
      check: (extension) => consent().check(extension),
      checkPlugin: (plugin, authorities) => consent().checkPlugin(plugin, authorities),
      retainOnly: (all) => consent().retainOnly(all),
      retainOnlyPlugins: (folders) => consent().retainOnlyPlugins(folders),
    },
    requirements: () => read(requiredPackageGuards),
    disabled: () => read(disabledPackages),
    source: () => read(packageSources),
    appBundle: {
      build: async (halves) => (await read(appBundles)?.build(halves)) ?? { failed: new Map() },
      chunk: (name) => read(appBundles)?.chunk(name),
    },
    async loadFull(extension, phase) {
      const loader = read(fullAuthorityLoaders);
      if (!loader) throw createMissing('code with full authority');
      return loader.load(extension, phase);
    },
    async afterFirstLoad() {
      await read(fullAuthorityLoaders)?.afterFirstLoad();
    },
    confined: {
      passGate: async (extension) => confined().passGate(extension, (one) => consent().check(one)),
      load: async (gated, phase) => confined().load(gated, phase),
      findAmbiguous: (all) => read(confinedLoaders)?.findAmbiguous(all) ?? new Map(),
    },
    runtime: async () => (await read(confinedLoaders)?.runtime()) ?? UNAVAILABLE,
    runtimeState: () => read(confinedLoaders)?.runtimeState() ?? NOT_REQUIRED,
  };
}
