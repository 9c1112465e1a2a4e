import type { FlowOperationKind, FlowOperationRegistry } from '../flows/contract.ts';
import type { JsonSchema, MountDescription, RouteMount } from '../http/contract.ts';

export const APP_EXTENSION_TYPES = ['interface', 'display', 'layout', 'module', 'panel', 'item-view'] as const;

/** Types of extensions that run in the service. */
export const SERVER_EXTENSION_TYPES = ['hook', 'endpoint', 'operation'] as const;
export const EXTENSION_TYPES = [...APP_EXTENSION_TYPES, ...SERVER_EXTENSION_TYPES, 'bundle'] as const;
export type AppExtensionType = (typeof APP_EXTENSION_TYPES)[number];

/** One of `SERVER_EXTENSION_TYPES`. */
export type ServerExtensionType = (typeof SERVER_EXTENSION_TYPES)[number];

/** Every type of extension, those for the browser and bundles included. */
export type ExtensionType = (typeof EXTENSION_TYPES)[number];

/**
 * Why an extension did not load (conventions, "Reason codes"); this service adds `CONSENT_REQUIRED` and
 * `RUNTIME_CRASHED`.
 */
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
  // An admin has switched it off: no failure for clients, to whom it is `discovered`.
  'DISABLED',
] as const;

/** One of `REASON_CODES`. */
export type ReasonCode = (typeof REASON_CODES)[number];

/** One extension or one entry of a bundle cannot be loaded; the others load all the same. */
export class LoadFailure extends Error {
  readonly code: ReasonCode;
  /** What is wrong and what to do about it. Redacted before it is shown. */
  readonly detail: string;

  constructor(code: ReasonCode, detail: string, options?: { cause?: unknown }) {
    super(`${code}: ${detail}`, options);
    this.name = 'LoadFailure';
    this.code = code;
    this.detail = detail;
  }
}

/** Two files of one extension: for the browser (`app`) and for the service (`api`). */
export interface AppAndApiFiles {
  readonly app: string;
  readonly api: string;
}

/** Events that an extension may listen to, by the kind of listener. */
export interface ListenableEvents {
  readonly filter?: readonly string[];
  readonly action?: readonly string[];
}

/** An entry of a bundle. */
export interface BundleEntry {
  readonly type: AppExtensionType | ServerExtensionType;
  readonly name: string;
  readonly source: string | AppAndApiFiles;
  readonly capabilities?: Readonly<Record<string, unknown>>;
  readonly events?: ListenableEvents;
  readonly optionDelivery?: Readonly<Record<string, { readonly delivery: 'reference' }>>;
  readonly input?: JsonSchema;
  readonly output?: JsonSchema;
}

/** `service:extension` of a package of any type but `plugin` (conventions, "Manifest"). */
export interface ExtensionManifest {
  readonly type: ExtensionType;
  readonly host: string;
  readonly path: string | AppAndApiFiles;
  readonly source?: string | AppAndApiFiles;
  readonly hidden?: boolean;
  /** Whether the events that the package filters are refused while the package is not loaded. */
  readonly required?: boolean;
  /** The declaration of the settings, as written: `parseDeclaration` of `extension-settings` reads it. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly runtime?: 'confined-server';
  readonly capabilities?: Readonly<Record<string, unknown>>;
  readonly events?: ListenableEvents;
  readonly optionDelivery?: Readonly<Record<string, { readonly delivery: 'reference' }>>;
  /** JSON Schema of what a confined endpoint receives: an object of `method`, `path`, `query` and `body`. */
  readonly input?: JsonSchema;
  /** JSON Schema of what a confined endpoint answers: an object of `status` and `body`. */
  readonly output?: JsonSchema;
  readonly entries?: readonly BundleEntry[];
  /** Whether one context serves many calls, so that state is kept between callers. Confined runtime only; shown in the record. */
  readonly stateful?: true;
}

/** An extension that discovery found. None of its code has run. */
export interface DiscoveredExtension {
  /** A UUID, unique among all discovered extensions; names are not unique. */
  readonly id: string;
  readonly folder: string;
  readonly name: string;
  readonly local: boolean;
  /** Null if the type could not be read. */
  readonly type: ExtensionType | null;
  readonly version?: string;
  /** Absent in the single-file layout and if discovery failed. */
  readonly manifest?: ExtensionManifest;
  /** Built files, absolute: `api` runs on the server, `app` in the browser. */
  readonly files: { readonly api?: string; readonly app?: string };
  /** Changes with the files of the package. A reload keeps an extension with the same revision running. */
  readonly revision: string;
  /** Set if discovery failed. */
  readonly failure?: LoadFailure;
}

/** Why a part of an extension does not work, as its record shows it. `detail` is redacted. */
export interface FailureReason {
  readonly code: string;
  readonly detail: string;
}

/** The state of one entry of a bundle. */
export interface BundleEntryOutcome {
  readonly name: string;
  readonly type: string;
  readonly status: 'loaded' | 'discovered' | 'failed';
  readonly reason?: FailureReason;
  readonly capabilities?: Readonly<Record<string, unknown>>;
}

/** A failure of a contribution of a confined package while it ran, in the process that answers the request. */
export interface ContributionFailure {
  readonly type: ServerExtensionType;
  readonly contribution: string;
  /** The event; for hooks only. */
  readonly event?: string;
  /** `GUEST_ERROR`, `TIMEOUT`, `CPU_LIMIT`, `CRASH`, `RESULT_TOO_LARGE` and the like. */
  readonly code: string;
  /** The message that the author threw: one line, at most 500 characters, redacted. */
  readonly message?: string;
  /** `file:line:column` inside of the package. */
  readonly at?: string;
  /** How often it occurred in a row. */
  readonly count: number;
  /** ISO 8601; the latest occurrence. */
  readonly time: string;
}

/** A loaded extension; `remove` undoes exactly what its load added. */
export interface LoadedExtension {
  readonly entries?: readonly BundleEntryOutcome[];
  /** Events that code with full authority filters; its manifest does not list them. */
  readonly filters?: readonly string[];
  /** For confined packages: at most five for each contribution, the latest first. */
  readonly failures?: readonly ContributionFailure[];
  remove(): Promise<void>;
}

/** A path under which an extension answers requests that no route matches. */
export interface ExtensionMount extends Omit<RouteMount, 'description'> {
  /** Missing where the code of the extension decides everything. */
  readonly description?: Omit<MountDescription, 'package'>;
  readonly owner: string;
  readonly confined: boolean;
}

/** Registers the paths of extensions. */
export interface PackageMountRegistry {
  /**
   * Answers a function that removes the mount.
   * @throws LoadFailure ROUTE_COLLISION for a confined extension under a path that is taken.
   */
  add(mount: ExtensionMount): () => void;
}

/** Operations of flows, and the registration of those of extensions under their names. */
export interface PackageFlowOperations extends FlowOperationRegistry {
  /** Answers a function that removes the operation. */
  register(owner: string, operation: FlowOperationKind): () => void;
}

/** The part of an extension that runs in the browser. */
export interface ExtensionAppPart {
  readonly id: string;
  readonly name: string;
  readonly type: ExtensionType;
  /** The package's folder: no file outside of it is served. */
  readonly folder: string;
  /** Absent if the single-file layout has none. */
  readonly file: string | undefined;
  readonly revision: string;
}

/** The result of a build of the browser code. */
export interface ExtensionAppBuildResult {
  /** Failures of extensions whose browser code is left out, by id of the extension. */
  readonly failed: ReadonlyMap<string, LoadFailure>;
  /** Set if the build failed as a whole: the service keeps serving the previous build. */
  readonly failure?: LoadFailure;
}

/** The browser code of all extensions, in memory. */
export interface ExtensionAppBundle {
  /** Bundles the browser code of these extensions and replaces what is served, all at once. Never rejects. */
  build(halves: readonly ExtensionAppPart[]): Promise<ExtensionAppBuildResult>;
  /** The text of a chunk by its file name. */
  chunk(name: string): string | undefined;
}
