import type { Host } from '#kernel';
import type { RuntimeState } from '../sandbox/contract.ts';
import {
  appBundles,
  confinedLoaders,
  consents,
  fullLoaders,
  type PackageConsent,
  type RequiredPackages,
  requirements,
} from './contract.ts';
import type { LoadDeps } from './load/load-deps.ts';
import { type AppBundle, LoadFailure } from './model.ts';
import { noConsent } from './no-consent.ts';

/** What other plugins contribute to loading packages. */
export interface LoaderContributions extends Pick<LoadDeps, 'loadFull' | 'confined' | 'runtime'> {
  readonly appBundle: AppBundle;
  readonly consent: PackageConsent;
  /** Undefined where no plugin keeps what is required. */
  readonly requirements: () => RequiredPackages | undefined;
  /** Told once, after the first load of the process. */
  afterFirstLoad(): Promise<void>;
}

const missing = (what: string) => new LoadFailure('REGISTRATION_FAILED', `Nothing here runs ${what}.`);
const UNAVAILABLE: RuntimeState = { state: 'unavailable', reason: 'no plugin runs confined code', posture: null };

/** The kinds of extensions, consent and browser bundles, by the facets' contributions at the moment of each call. */
export function readLoaderContributions({ read }: Pick<Host, 'read'>): LoaderContributions {
  const consent = (): PackageConsent => read(consents) ?? noConsent;
  const confined = () => {
    const loader = read(confinedLoaders);
    if (!loader) throw missing('confined code');
    return loader;
  };
  return {
    consent: {
      check: (found) => consent().check(found),
      checkPlugin: (plugin, authorities) => consent().checkPlugin(plugin, authorities),
      retainOnly: (all) => consent().retainOnly(all),
      retainOnlyPlugins: (folders) => consent().retainOnlyPlugins(folders),
    },
    requirements: () => read(requirements),
    appBundle: {
      build: async (halves) => (await read(appBundles)?.build(halves)) ?? { failed: new Map() },
      chunk: (name) => read(appBundles)?.chunk(name),
    },
    async loadFull(found, phase) {
      const loader = read(fullLoaders);
      if (!loader) throw missing('code with full authority');
      return loader.load(found, phase);
    },
    async afterFirstLoad() {
      await read(fullLoaders)?.afterFirstLoad();
    },
    confined: {
      passGate: async (found) => confined().passGate(found, (one) => consent().check(one)),
      load: async (gated, phase) => confined().load(gated, phase),
      findAmbiguous: (all) => read(confinedLoaders)?.findAmbiguous(all) ?? new Map(),
    },
    runtime: async () => (await read(confinedLoaders)?.runtime()) ?? UNAVAILABLE,
  };
}
