import type { Operation, Operations } from '../flows/contract.ts';
import type { Mount } from '../http/contract.ts';

export const APP_TYPES = ['interface', 'display', 'layout', 'module', 'panel', 'item-view'] as const;

/** Types of extensions that run in the service. */
export const SERVER_TYPES = ['hook', 'endpoint', 'operation'] as const;
export const TYPES = [...APP_TYPES, ...SERVER_TYPES, 'bundle'] as const;
export type AppType = (typeof APP_TYPES)[number];

/** One of `SERVER_TYPES`. */
export type ServerType = (typeof SERVER_TYPES)[number];

/** Every type of extension, those for the browser and bundles included. */
export type ExtensionType = (typeof TYPES)[number];

/** Why something did not load (conventions, "Reason codes"); `CONSENT_REQUIRED` and `RUNTIME_CRASHED` are ours. */
export const REASON_CODES = [
  'MANIFEST_INVALID',
  'DISCOVERY_FAILED',
  'ENTRYPOINT_NOT_FOUND',
  'REGISTRATION_FAILED',
  'BUNDLE_BUILD_FAILED',
  'MANIFEST_TOO_LARGE',
  'SOURCE_UNAVAILABLE',
  'SOURCE_READ_FAILED',
  'LOCAL_PATH_ESCAPES_ROOT',
  'ARTIFACT_TOO_LARGE',
  'USES_NODE_BUILTIN',
  'USES_RAW_FS',
  'USES_RAW_NETWORK',
  'USES_CHILD_PROCESS',
  'USES_RAW_ENV',
  'USES_DYNAMIC_REQUIRE',
  'USES_DYNAMIC_IMPORT',
  'USES_DYNAMIC_CODE',
  'USES_INTERNAL_IMPORT',
  'USES_LEGACY_SDK_RUNTIME_IMPORT',
  'INVALID_ENTRY',
  'IDENTITY_MISMATCH',
  'TIMEOUT',
  'CRASH',
  'VALIDATION_INCOMPLETE',
  'ROUTE_INVALID',
  'AMBIGUOUS_ENDPOINT',
  'AMBIGUOUS_HOOK',
  'AMBIGUOUS_OPERATION',
  'ROUTE_COLLISION',
  'OPERATION_COLLISION',
  'CAPABILITY_MISSING',
  'EVENT_INVALID',
  'CONSENT_REQUIRED',
  'RUNTIME_CRASHED',
  'UNKNOWN',
] as const;

/** One of `REASON_CODES`. */
export type ReasonCode = (typeof REASON_CODES)[number];

/** One extension or one entry of a bundle cannot be loaded; everything else goes on. */
export class LoadFailure extends Error {
  readonly code: ReasonCode;
  /** What is wrong and what to do about it. Redacted before anybody sees it. */
  readonly detail: string;

  constructor(code: ReasonCode, detail: string, options?: { cause?: unknown }) {
    super(`${code}: ${detail}`, options);
    this.name = 'LoadFailure';
    this.code = code;
    this.detail = detail;
  }
}

/** Two files of one extension: for the browser (`app`) and for the service (`api`). */
export interface Halves {
  readonly app: string;
  readonly api: string;
}

/** Events that an extension may listen to, by the kind of listener. */
export interface EventNames {
  readonly filter?: readonly string[];
  readonly action?: readonly string[];
}

/** An entry of a bundle. */
export interface BundleEntry {
  readonly type: AppType | ServerType;
  readonly name: string;
  readonly source: string | Halves;
  readonly capabilities?: Readonly<Record<string, unknown>>;
  readonly events?: EventNames;
  readonly optionDelivery?: Readonly<Record<string, { readonly delivery: 'reference' }>>;
}

/** `service:extension` of a package of any type but `plugin` (conventions, "Manifest"). */
export interface ExtensionManifest {
  readonly type: ExtensionType;
  readonly host: string;
  readonly path: string | Halves;
  readonly source?: string | Halves;
  readonly hidden?: boolean;
  /** What the package filters is refused while the package is not loaded. */
  readonly required?: boolean;
  /** As written; `extension-settings` knows its shape. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly runtime?: 'confined-server';
  readonly capabilities?: Readonly<Record<string, unknown>>;
  readonly events?: EventNames;
  readonly optionDelivery?: Readonly<Record<string, { readonly delivery: 'reference' }>>;
  readonly entries?: readonly BundleEntry[];
  /** One context serves many calls, so that state is kept between callers. Confined runtime only; shown in the record. */
  readonly stateful?: true;
}

/** Something that was found, before anything of it ran. */
export interface DiscoveredExtension {
  /** Unique among all that was found; names are not. */
  readonly id: string;
  readonly folder: string;
  readonly name: string;
  readonly local: boolean;
  /** Null where not even that could be read. */
  readonly type: ExtensionType | null;
  readonly version?: string;
  /** Absent in the layout of single files and where discovery failed. */
  readonly manifest?: ExtensionManifest;
  /** Built files, absolute: `api` runs here or confined, `app` in the browser. */
  readonly files: { readonly api?: string; readonly app?: string };
  /** Changes with the files of the package: what has the same one goes on running when extensions are loaded again. */
  readonly revision: string;
  /** Discovery itself failed. */
  readonly failure?: LoadFailure;
}

/** Why a part of an extension does not work, as its record shows it. `detail` is redacted. */
export interface Reason {
  readonly code: string;
  readonly detail: string;
}

/** What became of one entry of a bundle. */
export interface EntryOutcome {
  readonly name: string;
  readonly type: string;
  readonly status: 'loaded' | 'discovered' | 'failed';
  readonly reason?: Reason;
  readonly capabilities?: Readonly<Record<string, unknown>>;
}

/** Something that failed in a contribution of a confined package while it ran, in the process that is asked. */
export interface ContributionFailure {
  readonly type: ServerType;
  readonly contribution: string;
  /** The event, of hooks. */
  readonly event?: string;
  /** `GUEST_ERROR`, `TIMEOUT`, `CPU_LIMIT`, `CRASH`, `RESULT_TOO_LARGE` and the like. */
  readonly code: string;
  /** In the author's words where he threw it: one line, at most 500 characters, redacted. */
  readonly message?: string;
  /** `file:line:column` inside of the package, where it was thrown. */
  readonly at?: string;
  /** How often in a row of the latest ones. */
  readonly count: number;
  /** Of the latest one, ISO 8601. */
  readonly time: string;
}

/** What loading added; `remove` undoes exactly that. */
export interface LoadedExtension {
  readonly entries?: readonly EntryOutcome[];
  /** Events that it filters, where its manifest does not say so: of code with full authority. */
  readonly filters?: readonly string[];
  /** Of confined packages: at most five of each contribution, the latest first. */
  readonly failures?: readonly ContributionFailure[];
  remove(): Promise<void>;
}

/** A place under which an extension answers requests that no route took. */
export interface ExtensionMount extends Mount {
  readonly owner: string;
  readonly confined: boolean;
}

/** Paths of extensions. `extensions` gives it to the loaders of its kinds. */
export interface Mounts {
  /**
   * Answers how to take it away.
   * @throws LoadFailure ROUTE_COLLISION for a confined one under a path that is taken.
   */
  add(mount: ExtensionMount): () => void;
}

/** Steps of flows, those of extensions under their names. */
export interface PackageOperations extends Operations {
  /** Answers how to take it away. */
  register(owner: string, operation: Operation): () => void;
}

/** The part of an extension that runs in the browser. */
export interface AppHalf {
  readonly id: string;
  readonly name: string;
  readonly type: ExtensionType;
  /** Its package: nothing outside of it is served. */
  readonly folder: string;
  /** Absent where the layout of single files has none. */
  readonly file: string | undefined;
  readonly revision: string;
}

/** The outcome of a build of the code for the browser. */
export interface AppBuild {
  /** Halves that are left out, by id. */
  readonly failed: ReadonlyMap<string, LoadFailure>;
  /** Nothing could be built: what was served before still is. */
  readonly failure?: LoadFailure;
}

/** The code of all extensions for the browser, in memory. */
export interface AppBundle {
  /** Bundles these halves; what is served changes at once and as a whole. Never rejects. */
  build(halves: readonly AppHalf[]): Promise<AppBuild>;
  /** The text of a chunk by its file name. */
  chunk(name: string): string | undefined;
}
