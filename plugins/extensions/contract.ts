import { type Authority, authorities, facet, type PluginInfo, service } from '#kernel';
import type { ConfinedRuntimeState } from '../sandbox/contract.ts';
import type { DiscoveredExtension, ExtensionAppBundle, LoadedExtension, LoadFailure } from './extension-types.ts';
import type { ConfinedLoadSteps, LoadPhase } from './load/loader-dependencies.ts';
import type { PackageEventFilterState } from './load/package-filter-states.ts';

export type {
  AppAndApiFiles,
  BundleEntryOutcome,
  ContributionFailure,
  DiscoveredExtension,
  ExtensionAppBuildResult,
  ExtensionAppBundle,
  ExtensionAppPart,
  ExtensionManifest,
  ExtensionMount,
  ExtensionType,
  FailureReason,
  ListenableEvents,
  LoadedExtension,
  PackageFlowOperations,
  PackageMountRegistry,
  ReasonCode,
  ServerExtensionType,
} from './extension-types.ts';
export { SERVER_EXTENSION_TYPES } from './extension-types.ts';
export type { LoadPhase } from './load/loader-dependencies.ts';
export type { PackageEventFilterState } from './load/package-filter-states.ts';
/** Types that the plugins that load extensions share. Clients see extensions through the routes. */
export type { GrantsByCapability } from './manifest/requested-grants.ts';
export type { ManifestDeps } from './manifest/validate.ts';
export type { PackageFile, PackageFileReader } from './packages/package-files.ts';

/**
 * Builds the browser code of extensions. Without a contribution no browser code is served, and extensions load all the
 * same.
 */
export const appBundles = facet<ExtensionAppBundle, ExtensionAppBundle | undefined>('extensions.app', {
  combine: ([first]) => first?.value,
  coreOnly: true,
  describe: () => authorities('contributes to', ['extensions'], 'makes their code for the browser'),
});

/** Loads extensions that declare the confined runtime. */
export interface ConfinedLoader extends Omit<ConfinedLoadSteps<unknown>, 'passGate'> {
  /**
   * Validates a package. Registers nothing; no file of the package is read after this.
   * @throws LoadFailure with the reason.
   */
  passGate(extension: DiscoveredExtension, consent: PackageConsentDecider['check']): Promise<unknown>;
  /** Detects which layers of confinement this machine supports; the first call takes a second. */
  runtime(): Promise<ConfinedRuntimeState>;
  /** The state so far, without starting the runtime: operations of flows may need it where no package does. */
  runtimeState(): ConfinedRuntimeState;
}

/** Without a contribution confined extensions fail; they never load with full authority instead. */
export const confinedLoaders = facet<ConfinedLoader, ConfinedLoader | undefined>('extensions.confined', {
  combine: ([first]) => first?.value,
  coreOnly: true,
  describe: () => authorities('contributes to', ['extensions'], 'loads confined ones'),
});

/** Loads extensions that declare no runtime into this process, with full authority. */
export interface FullAuthorityLoader {
  /** @throws LoadFailure; everything the extension registered until then is removed. */
  load(extension: DiscoveredExtension, phase: LoadPhase): Promise<LoadedExtension>;
  /** Called once, after the first load of the process: emits the init events. */
  afterFirstLoad(): Promise<void>;
}

/** Without a contribution extensions with full authority fail. */
export const fullAuthorityLoaders = facet<FullAuthorityLoader, FullAuthorityLoader | undefined>('extensions.full', {
  combine: ([first]) => first?.value,
  coreOnly: true,
  describe: () => authorities('contributes to', ['extensions'], 'loads those with full authority'),
});

/** Decides whether packages may have the authority that they request. */
export interface PackageConsentDecider {
  /**
   * Answers a LoadFailure CONSENT_REQUIRED that lists what is added, or undefined if the package may load. Code with
   * full authority and browser code need consent only where they replace a confined package; otherwise installing them
   * is consent.
   */
  check(extension: DiscoveredExtension): Promise<LoadFailure | undefined>;
  /** Checks a third-party plugin like `check` an extension; `authorities` are all that its manifest declares. */
  checkPlugin(plugin: PluginInfo, authorities: readonly Authority[]): Promise<LoadFailure | undefined>;
  /** Drops waiting extensions that are not in `all`, the extensions on disk. */
  retainOnly(all: readonly DiscoveredExtension[]): void;
  /** Drops waiting third-party plugins whose folders are not among these. */
  retainOnlyPlugins(folders: readonly string[]): void;
}

/**
 * The plugin that decides about consent. `extensions` calls it before it loads a package; without a contribution no third-party
 * package is loaded.
 */
export const consentDeciders = facet<PackageConsentDecider, PackageConsentDecider | undefined>('extensions.consent', {
  combine: ([first]) => first?.value,
  coreOnly: true,
  describe: () => authorities('contributes to', ['extensions'], 'decides what may be loaded'),
});

/** Refuses the events that a required package filters while the package is not loaded. */
export interface RequiredPackageGuard {
  /**
   * Called before the first load of the process: refuses the events of all packages that were required when the service
   * last ran.
   */
  prepare(): Promise<void>;
  /** Called before these packages are loaded or unloaded: the events that they filter are refused until `afterLoad`. */
  beforeLoad(all: readonly PackageEventFilterState[]): void;
  /** Called with all packages after a load: refuses the events that are not filtered now, and no others. */
  afterLoad(all: readonly PackageEventFilterState[]): Promise<void>;
  /** Required packages that are not on disk. */
  listMissing(): readonly Pick<PackageEventFilterState, 'id' | 'name'>[];
  isRequired(name: string): boolean;
  /** Stores an admin's decision for all processes; null leaves the decision to the manifest. */
  setRequired(one: Pick<PackageEventFilterState, 'id' | 'name'>, required: boolean | null): Promise<void>;
  /** @throws BootFailure for a package of EXTENSIONS_MUST_LOAD that is not loaded; `reasons` by name. */
  assertLoaded(all: readonly PackageEventFilterState[], reasons: ReadonlyMap<string, string>): void;
}

/**
 * The plugin that knows the required packages. `extensions` calls it before and after every load; without a contribution no
 * package is required.
 */
export const requiredPackageGuards = facet<RequiredPackageGuard, RequiredPackageGuard | undefined>(
  'extensions.required',
  {
    combine: ([first]) => first?.value,
    coreOnly: true,
    describe: () => authorities('contributes to', ['extensions'], 'refuses what a missing package would check'),
  },
);

/** Knows which extensions are switched off, by name, for all processes. */
export interface DisabledPackages {
  /** @throws SERVICE_UNAVAILABLE where the database is not reached */
  list(): Promise<ReadonlySet<string>>;
  /** @throws SERVICE_UNAVAILABLE where the database is not reached */
  set(name: string, isDisabled: boolean): Promise<void>;
}

/** Without a contribution no extension can be switched off. */
export const disabledPackages = facet<DisabledPackages, DisabledPackages | undefined>('extensions.disabled', {
  combine: ([first]) => first?.value,
  coreOnly: true,
  describe: () => authorities('contributes to', ['extensions'], 'decides which are left out'),
});

/** A package that a source brings: unpacked in a folder that does not change any more, or the reason why it is missing. */
export type SourcePackage =
  | { readonly name: string; readonly folder: string; readonly failure?: undefined }
  | { readonly name: string; readonly folder?: undefined; readonly failure: LoadFailure };

/** Brings packages to this machine from elsewhere. */
export interface PackageSource {
  /** Called before each load of the process. Never rejects: a package that cannot be brought has its failure. */
  bring(): Promise<readonly SourcePackage[]>;
  /** Sets what is called when the process should load again what has changed. */
  watch(onChange: () => void): void;
}

/** Without a contribution packages are those of EXTENSIONS_PATH and PACKAGE_FILE_LOCATION. */
export const packageSources = facet<PackageSource, PackageSource | undefined>('extensions.source', {
  combine: ([first]) => first?.value,
  coreOnly: true,
  describe: () => authorities('contributes to', ['extensions'], 'brings packages'),
});

/** The service by which plugins that load extensions, or decide about them, change the list of extensions. */
export interface ExtensionStatusControl {
  /** Marks a loaded extension as failed, for example because its process is parked; its row shows the failure. */
  reportFailed(id: string, failure: LoadFailure): void;
  /** Removes the mark of `reportFailed`: the row is again as it was when the extension was loaded. */
  reportRecovered(id: string): void;
  /** Reloads these packages by name in all processes, because a decision about them has changed. */
  reload(names: readonly string[]): Promise<void>;
  /** Whether a package on disk, or one that a source may bring, would run with full authority; false in SAFE_MODE. None of its code runs for this. */
  hasFullAuthorityPackages(): Promise<boolean>;
}

/** For the plugins that load extensions of one kind, and for `extensions-consent`. */
export const extensionStatusControl = service<ExtensionStatusControl>('extensions', {
  version: '1.0.0',
  coreOnly: true,
});
