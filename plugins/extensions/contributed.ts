import type { Host } from '#kernel';
import type { RuntimeState } from '../sandbox/contract.ts';
import { noConsent } from './consent.ts';
import {
  appBundles,
  confinedLoaders,
  consents,
  fullLoaders,
  type PackageConsent,
  type RequiredPackages,
  requirements,
} from './contract.ts';
import type { Parts } from './load/parts.ts';
import { type AppBundle, LoadFailure } from './model.ts';

/** What other plugins contribute to loading packages. */
export interface Contributed extends Pick<Parts, 'loadFull' | 'confined' | 'runtime'> {
  readonly appBundle: AppBundle;
  readonly consent: PackageConsent;
  /** Undefined where no plugin keeps what is required. */
  readonly required: () => RequiredPackages | undefined;
  /** Told once, after the first load of the process. */
  started(): Promise<void>;
}

const missing = (what: string) => new LoadFailure('REGISTRATION_FAILED', `Nothing here runs ${what}.`);
const UNAVAILABLE: RuntimeState = { state: 'unavailable', reason: 'no plugin runs confined code', posture: null };

/** The kinds of extensions, consent and browser bundles, by the facets' contributions at the moment of each call. */
export function contributed({ read }: Pick<Host, 'read'>): Contributed {
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
      keep: (all) => consent().keep(all),
      keepPlugins: (folders) => consent().keepPlugins(folders),
    },
    required: () => read(requirements),
    appBundle: {
      build: async (halves) => (await read(appBundles)?.build(halves)) ?? { failed: new Map() },
      chunk: (name) => read(appBundles)?.chunk(name),
    },
    async loadFull(found, phase) {
      const loader = read(fullLoaders);
      if (!loader) throw missing('code with full authority');
      return loader.load(found, phase);
    },
    async started() {
      await read(fullLoaders)?.started();
    },
    confined: {
      gate: async (found) => confined().gate(found, (one) => consent().check(one)),
      load: async (gated, phase) => confined().load(gated, phase),
      ambiguous: (all) => read(confinedLoaders)?.ambiguous(all) ?? new Map(),
    },
    runtime: async () => (await read(confinedLoaders)?.runtime()) ?? UNAVAILABLE,
  };
}
