import type { ReasonCode } from '../extension-types.ts';

/** What an admin or author can do, by reason code. */
const REMEDIES: Partial<Record<ReasonCode, string>> = {
  MANIFEST_INVALID: 'Correct package.json.',
  DISCOVERY_FAILED: 'Check the rights of the folder.',
  ENTRYPOINT_NOT_FOUND: 'Build the package, or correct "path" in its manifest.',
  REGISTRATION_FAILED: 'See the log of the service for the error.',
  BUNDLE_BUILD_FAILED: 'Build the package again, and see the log of the service for the error.',
  MANIFEST_TOO_LARGE: 'Make package.json smaller.',
  SOURCE_UNAVAILABLE: 'Build the package, and ship its sources with it.',
  SOURCE_READ_FAILED: 'Check the rights of the file.',
  LOCAL_PATH_ESCAPES_ROOT: 'Keep all files inside of the package.',
  ARTIFACT_TOO_LARGE: 'Make the built file smaller, or raise EXTENSIONS_SANDBOX_MAX_ARTIFACT.',
  USES_NODE_BUILTIN: 'Use the capabilities of the host instead.',
  USES_RAW_FS: 'Keep data in items or settings.',
  USES_RAW_NETWORK: 'Use host.request with the capability "request" instead.',
  USES_CHILD_PROCESS: 'Do the work in JavaScript, or ask another service.',
  USES_RAW_ENV: 'Declare settings instead.',
  USES_DYNAMIC_REQUIRE: 'Name the module literally.',
  USES_DYNAMIC_IMPORT: 'Name the module literally.',
  USES_DYNAMIC_CODE: 'Write the code out.',
  USES_INTERNAL_IMPORT: 'Import nothing of the service itself.',
  USES_LEGACY_SDK_RUNTIME_IMPORT: 'Import the kit for confined code instead.',
  INVALID_ENTRY: 'Build the package with the kit for confined code.',
  IDENTITY_MISMATCH: 'Make the manifest and the built entry say the same.',
  TIMEOUT: 'Do less when the module is loaded.',
  CRASH: 'Use less memory when the module is loaded.',
  VALIDATION_INCOMPLETE: 'The package itself may be in order: see the settings EXTENSIONS_SANDBOX_* and the log.',
  ROUTE_INVALID: 'Name it with lower-case letters, digits, ".", "_" and "-".',
  AMBIGUOUS_ENDPOINT: 'Remove or rename one of the two.',
  AMBIGUOUS_HOOK: 'Remove or rename one of the two.',
  AMBIGUOUS_OPERATION: 'Remove or rename one of the two.',
  ROUTE_COLLISION: 'Rename it, or remove the other one.',
  OPERATION_COLLISION: 'Rename the operation.',
  CAPABILITY_MISSING: 'Declare capabilities.endpoint with the access it is for.',
  EVENT_INVALID: 'Correct the name of the event.',
  CONSENT_REQUIRED: 'An administrator decides: POST its name to extensions/consent.',
  RUNTIME_CRASHED: 'Correct the package, then POST its name to extensions/restart.',
  UNKNOWN: 'See the log of the service for the error.',
};

/** Maximum characters of a detail that is followed by a remedy. */
const ROOM = 200;

/**
 * Appends the remedy of the code unless the detail already has a second sentence with one. Details of the gate may name
 * the remedy behind a colon or semicolon.
 */
export function withRemedy(code: ReasonCode, detail: string, byGate: boolean): string {
  const remedy = REMEDIES[code];
  // The requested authorities may be long; without this the remedy at the end would be cut off.
  if (code === 'CONSENT_REQUIRED' && remedy && !detail.endsWith(remedy)) return appendRemedy(detail, remedy);
  if (remedy === undefined || (byGate ? /[.;:!?] /.test(detail) : /[.!?] [A-Z]/.test(detail))) return detail;
  return appendRemedy(detail, remedy);
}

const appendRemedy = (detail: string, remedy: string): string =>
  `${detail.length > ROOM ? `${detail.slice(0, ROOM - 1)}…` : detail.replace(/[.!?]?$/, '.')} ${remedy}`;
