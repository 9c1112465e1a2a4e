import type { HttpContext } from '../http/contract.ts';

export const APP_TYPES = ['interface', 'display', 'layout', 'module', 'panel', 'item-view'] as const;
export const SERVER_TYPES = ['hook', 'endpoint', 'operation'] as const;
export const TYPES = [...APP_TYPES, ...SERVER_TYPES, 'bundle'] as const;
export type AppType = (typeof APP_TYPES)[number];
export type ServerType = (typeof SERVER_TYPES)[number];
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

export interface Halves {
  readonly app: string;
  readonly api: string;
}

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
export interface Found {
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

export interface Reason {
  readonly code: string;
  readonly detail: string;
}

/** What became of one entry of a bundle. */
export interface EntryOutcome {
  readonly name: string;
  readonly type: string;
  /** Absent for entries of bundles with full authority. */
  readonly status?: 'loaded' | 'discovered' | 'failed';
  readonly reason?: Reason;
  readonly capabilities?: Readonly<Record<string, unknown>>;
}

/** What loading added; `remove` undoes exactly that. */
export interface Loaded {
  readonly entries?: readonly EntryOutcome[];
  remove(): Promise<void>;
}

/** A place under which an extension answers requests that no route of the product took. */
export interface Mount {
  /** `/name` or `/@scope/name`, without a slash at the end. Matched without regard to case. */
  readonly path: string;
  readonly owner: string;
  readonly confined: boolean;
  /** `next` leaves the request to whoever stands behind. */
  handle(ctx: HttpContext, next: () => Promise<void>): Promise<void>;
}

export interface Mounts {
  /** Answers how to take it away. LoadFailure ROUTE_COLLISION for a confined one under a path that is taken. */
  add(mount: Mount): () => void;
}
