/**
 * All codes of failures (specification, "Errors"). `expose: false` hides the message from all callers but admins; `fixed` is a
 * message that never varies, so that an answer cannot be used to find out what exists.
 */
export const ERRORS = {
  FAILED_VALIDATION: { status: 400, expose: true },
  INVALID_PAYLOAD: { status: 400, expose: true },
  INVALID_QUERY: { status: 400, expose: true },
  INVALID_PATH_PARAMETER: { status: 400, expose: true },
  INVALID_FOREIGN_KEY: { status: 400, expose: true },
  RECORD_NOT_UNIQUE: { status: 400, expose: true },
  NOT_NULL_VIOLATION: { status: 400, expose: true },
  VALUE_OUT_OF_RANGE: { status: 400, expose: true },
  VALUE_TOO_LONG: { status: 400, expose: true },
  CONTAINS_NULL_VALUES: { status: 400, expose: true },
  ILLEGAL_ASSET_TRANSFORMATION: { status: 400, expose: true },
  INVALID_METADATA: { status: 400, expose: true },
  INVALID_CREDENTIALS: { status: 401, expose: true, fixed: 'Invalid user credentials.' },
  INVALID_OTP: { status: 401, expose: true, fixed: 'Invalid one-time code.' },
  INVALID_IP: { status: 401, expose: true, fixed: 'This address is not allowed.' },
  INVALID_PROVIDER: { status: 401, expose: true, fixed: 'Invalid sign-in provider.' },
  TOKEN_EXPIRED: { status: 401, expose: true, fixed: 'Token expired.' },
  USER_SUSPENDED: { status: 401, expose: true, fixed: 'User suspended.' },
  INVALID_TOKEN: { status: 403, expose: true, fixed: 'Invalid token.' },
  FORBIDDEN: { status: 403, expose: true, fixed: "You don't have permission to access this." },
  ROUTE_NOT_FOUND: { status: 404, expose: true },
  METHOD_NOT_ALLOWED: { status: 405, expose: true },
  OUT_OF_TIME: { status: 408, expose: true },
  CONTENT_TOO_LARGE: { status: 413, expose: true },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, expose: true },
  RANGE_NOT_SATISFIABLE: { status: 416, expose: true },
  UNPROCESSABLE_ENTITY: { status: 422, expose: true },
  REQUESTS_EXCEEDED: { status: 429, expose: true },
  INTERNAL_SERVER_ERROR: { status: 500, expose: false },
  CAPABILITY_DENIED: { status: 500, expose: false },
  EVENT_LOOP_DETECTED: { status: 500, expose: false },
  SERVICE_UNAVAILABLE: { status: 503, expose: true },
  GUARD_NOT_LOADED: { status: 503, expose: true, fixed: 'A package that has to check this is not loaded.' },
  INVALID_CONFIG: { status: 503, expose: true },
} as const satisfies Record<string, { status: number; expose: boolean; fixed?: string }>;

/** What a client reads in `extensions.code`. */
export type ErrorCode = keyof typeof ERRORS;
type Extensions = Readonly<Record<string, unknown>>;

/** An expected failure. `detail` is for the log and for tests; `message` is what clients may see. */
export class Failure extends Error {
  readonly code: ErrorCode;
  readonly detail: string | undefined;
  readonly extensions: Extensions;

  constructor(code: ErrorCode, detail?: string, extensions: Extensions = {}) {
    const entry: { status: number; fixed?: string } = ERRORS[code];
    super(entry.fixed ?? detail ?? code);
    this.name = 'Failure';
    this.code = code;
    this.detail = detail;
    this.extensions = extensions;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  /** Message and code for a client; a fixed message where the code hides it from callers that are no admins. */
  toClientView(reader: { admin: boolean }): { message: string; code: string } {
    const exposed = ERRORS[this.code].expose || reader.admin;
    return { message: exposed ? this.message : 'An unexpected error occurred.', code: this.code };
  }
}

/** Several failures of one request, for example one per violated validation rule. The answer has the status of the first one. */
export class Failures extends Error {
  readonly failures: readonly Failure[];

  constructor(failures: readonly Failure[]) {
    super(failures.map((failure) => failure.message).join(' '));
    this.name = 'Failures';
    this.failures = failures;
  }
}

/** `throw fail('FORBIDDEN', 'why, for the log')`. Details in `extensions` are sent to the client. */
export const fail = (code: ErrorCode, detail?: string, extensions?: Extensions): Failure =>
  new Failure(code, detail, extensions);

/** Codes that repeat their text in `extensions.reason`, where existing clients read it. */
const WITH_REASON: ReadonlySet<ErrorCode> = new Set(['INVALID_PAYLOAD', 'INVALID_QUERY', 'UNPROCESSABLE_ENTITY']);

/** Status and body of the answer to an error. Unexpected exceptions show their text to admins only, and a fixed sentence to all others. */
export function errorEnvelope(error: unknown, reader: { admin: boolean }) {
  const list = error instanceof Failures ? error.failures : [asFailure(error)];
  const errors = list.map((failure) => {
    const { message, code } = failure.toClientView(reader);
    const reason: Extensions = WITH_REASON.has(failure.code) && failure.detail ? { reason: failure.detail } : {};
    return { message, extensions: { ...reason, ...failure.extensions, code } as Record<string, unknown> };
  });
  return { status: list[0]?.status ?? 500, body: { errors } };
}

const asFailure = (error: unknown): Failure =>
  error instanceof Failure
    ? error
    : fail('INTERNAL_SERVER_ERROR', error instanceof Error ? error.message : String(error));
