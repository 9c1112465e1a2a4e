import { type Authority, authorities, type Discovered, facet, service } from '#kernel';
import type { RuntimeState } from '../sandbox/contract.ts';
import type { ConfinedSteps, Phase } from './load/load-deps.ts';
import type { PackageState } from './load/package-states.ts';
import type { AppBundle, DiscoveredExtension, LoadedExtension, LoadFailure } from './model.ts';

export type { Phase } from './load/load-deps.ts';
export type { PackageState } from './load/package-states.ts';
/** What an extension is to the plugins that load a kind of them; all see the list of them through the routes. */
export type { Grants } from './manifest/requested-grants.ts';
export type { ManifestDeps } from './manifest/validate.ts';
export type {
  AppBuild,
  AppBundle,
  AppHalf,
  ContributionFailure,
  DiscoveredExtension,
  EntryOutcome,
  EventNames,
  ExtensionManifest,
  ExtensionMount,
  ExtensionType,
  Halves,
  LoadedExtension,
  Mounts,
  PackageOperations,
  Reason,
  ReasonCode,
  ServerType,
} from './model.ts';
export { SERVER_TYPES } from './model.ts';
export type { PackageFile, PackageFiles } from './packages/package-files.ts';

/** Makes the code of extensions that runs in the browser. Without it there is none, and no extension misses it. */
export const appBundles = facet<AppBundle, AppBundle | undefined>('extensions.app', {
  combine: ([first]) => first?.value,
  coreOnly: true,
  describe: () => authorities('contributes to', ['extensions'], 'makes their code for the browser'),
});

/** Loads extensions that declare the confined runtime. */
export interface ConfinedLoader extends Omit<ConfinedSteps<unknown>, 'passGate'> {
  /**
   * Whether it may be loaded. Nothing of it is registered, and nothing is read again after this.
   * @throws LoadFailure with the reason.
   */
  passGate(found: DiscoveredExtension, consent: PackageConsent['check']): Promise<unknown>;
  /** Finds out which layers of confinement hold; the first call takes a second. */
  runtime(): Promise<RuntimeState>;
}

/** Without a contribution such extensions fail: there is no way from them to full authority. */
export const confinedLoaders = facet<ConfinedLoader, ConfinedLoader | undefined>('extensions.confined', {
  combine: ([first]) => first?.value,
  coreOnly: true,
  describe: () => authorities('contributes to', ['extensions'], 'loads confined ones'),
});

/** Loads extensions that declare no runtime: into this process, with full authority. */
export interface FullLoader {
  /** @throws LoadFailure, after which nothing of it is left. */
  load(found: DiscoveredExtension, phase: Phase): Promise<LoadedExtension>;
  /** Called once, after the first load of the process. */
  afterFirstLoad(): Promise<void>;
}

/** Without a contribution such extensions fail. */
export const fullLoaders = facet<FullLoader, FullLoader | undefined>('extensions.full', {
  combine: ([first]) => first?.value,
  coreOnly: true,
  describe: () => authorities('contributes to', ['extensions'], 'loads those with full authority'),
});

/** Decides whether packages may have what they ask for. */
export interface PackageConsent {
  /**
   * CONSENT_REQUIRED with what is added, or undefined where it may load. Code with full authority and code for the browser
   * are asked about where they take the place of a confined package, and else left to who installs them.
   */
  check(found: DiscoveredExtension): Promise<LoadFailure | undefined>;
  /** The same of a plugin that runs in this process, given all that its manifest declares. */
  checkPlugin(plugin: Discovered, authorities: readonly Authority[]): Promise<LoadFailure | undefined>;
  /** These extensions are all that there are: no other one waits any more. */
  retainOnly(all: readonly DiscoveredExtension[]): void;
  /** The same of plugins, by their folders. */
  retainOnlyPlugins(folders: readonly string[]): void;
}

/** Asked before a package is loaded. Without a contribution nothing is allowed. */
export const consents = facet<PackageConsent, PackageConsent | undefined>('extensions.consent', {
  combine: ([first]) => first?.value,
  coreOnly: true,
  describe: () => authorities('contributes to', ['extensions'], 'decides what may be loaded'),
});

/** Refuses what required packages filter while one of them is not loaded. */
export interface RequiredPackages {
  /** Holds all that were required when the service last ran. Before the first load of the process. */
  prepare(): Promise<void>;
  /** These packages are about to be loaded or taken away: what they filter is refused until the next `settle`. */
  beforeLoad(all: readonly PackageState[]): void;
  /** All packages there are, as they are now. */
  afterLoad(all: readonly PackageState[]): Promise<void>;
  /** Required packages that are not there. */
  listMissing(): readonly Pick<PackageState, 'id' | 'name'>[];
  isRequired(name: string): boolean;
  /** An admin's decision for all processes; null leaves it to the package's manifest. */
  setRequired(one: Pick<PackageState, 'id' | 'name'>, required: boolean | null): Promise<void>;
  /** @throws BootFailure for a package of EXTENSIONS_MUST_LOAD that is not loaded; `reasons` by name. */
  assertLoaded(all: readonly PackageState[], reasons: ReadonlyMap<string, string>): void;
}

/** Told of every load. Without a contribution no package is required. */
export const requirements = facet<RequiredPackages, RequiredPackages | undefined>('extensions.required', {
  combine: ([first]) => first?.value,
  coreOnly: true,
  describe: () => authorities('contributes to', ['extensions'], 'refuses what a missing package would check'),
});

/** What plugins that load extensions, or decide about them, may ask of the list of extensions. */
export interface ExtensionLoader {
  /** Something that was loaded no longer works, a parked process for example: its row says so from now on. */
  reportFailed(id: string, failure: LoadFailure): void;
  /** It works again: the row is as it was when it was loaded. */
  reportRecovered(id: string): void;
  /** Loads these packages anew by name, here and in the other processes: a decision about them has changed. */
  reload(names: readonly string[]): Promise<void>;
}

/** For the plugins that load extensions of one kind, and for `extensions-consent`. */
export const extensionLoader = service<ExtensionLoader>('extensions', { version: '1.0.0', coreOnly: true });
