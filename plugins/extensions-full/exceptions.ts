import { ERRORS, type ErrorCode, Failure } from '#kernel';

type Details = Readonly<Record<string, unknown>>;

/** Thrown, or handed to `next`, by extensions: `message` and `code` are shown to the client with this status. */
export class BaseException extends Error {
  readonly status: number;
  readonly code: string;
  readonly extensions: Details;

  constructor(message: string, status = 500, code = 'INTERNAL_SERVER_ERROR', extensions: Details = {}) {
    super(message);
    this.name = new.target.name;
    this.status = status;
    this.code = code;
    this.extensions = extensions;
  }
}

/** By name: the code, and what is said where nothing else is. */
const KINDS = {
  ContentTooLargeException: ['CONTENT_TOO_LARGE', 'The content is too large.'],
  FailedValidationException: ['FAILED_VALIDATION', 'Validation failed.'],
  ForbiddenException: ['FORBIDDEN', "You don't have permission to access this."],
  HitRateLimitException: ['REQUESTS_EXCEEDED', 'Too many requests.'],
  InvalidConfigException: ['INVALID_CONFIG', 'Something is not configured.'],
  InvalidCredentialsException: ['INVALID_CREDENTIALS', 'Invalid user credentials.'],
  InvalidForeignKeyException: ['INVALID_FOREIGN_KEY', 'Invalid foreign key.'],
  InvalidIPException: ['INVALID_IP', 'This address is not allowed.'],
  InvalidOTPException: ['INVALID_OTP', 'Invalid one-time code.'],
  InvalidPayloadException: ['INVALID_PAYLOAD', 'Invalid payload.'],
  InvalidProviderException: ['INVALID_PROVIDER', 'Invalid sign-in provider.'],
  InvalidQueryException: ['INVALID_QUERY', 'Invalid query.'],
  InvalidTokenException: ['INVALID_TOKEN', 'Invalid token.'],
  MethodNotAllowedException: ['METHOD_NOT_ALLOWED', 'Method not allowed.'],
  NotNullViolationException: ['NOT_NULL_VIOLATION', 'A value is required.'],
  RecordNotUniqueException: ['RECORD_NOT_UNIQUE', 'A value has to be unique.'],
  RouteNotFoundException: ['ROUTE_NOT_FOUND', 'Route not found.'],
  ServiceUnavailableException: ['SERVICE_UNAVAILABLE', 'Service unavailable.'],
  TokenExpiredException: ['TOKEN_EXPIRED', 'Token expired.'],
  UnprocessableEntityException: ['UNPROCESSABLE_ENTITY', 'The content cannot be processed.'],
  UnsupportedMediaTypeException: ['UNSUPPORTED_MEDIA_TYPE', 'Unsupported media type.'],
  UserSuspendedException: ['USER_SUSPENDED', 'User suspended.'],
  ValueOutOfRangeException: ['VALUE_OUT_OF_RANGE', 'A value is out of range.'],
  ValueTooLongException: ['VALUE_TOO_LONG', 'A value is too long.'],
} as const satisfies Record<string, readonly [ErrorCode, string]>;

type ExceptionClass = new (message?: string, extensions?: Details) => BaseException;
export type Exceptions = Readonly<Record<keyof typeof KINDS, ExceptionClass>> & {
  readonly BaseException: typeof BaseException;
};

/** What the service's own verbs throw is known by the same classes: `error instanceof ForbiddenException`. */
function exceptionClass(name: string, code: ErrorCode, usual: string): ExceptionClass {
  const kind = class extends BaseException {
    constructor(message = usual, extensions: Details = {}) {
      // By convention of this one alone the text is the path.
      const isPath = name === 'RouteNotFoundException' && message.startsWith('/');
      super(
        isPath ? `Route ${message} doesn't exist.` : message,
        ERRORS[code].status,
        code,
        isPath ? { path: message, ...extensions } : extensions,
      );
    }
  };
  return Object.defineProperties(kind, {
    name: { value: name },
    [Symbol.hasInstance]: {
      value(this: unknown, value: unknown): boolean {
        const isOurs = this === kind && value instanceof Failure && value.code === code;
        return isOurs || Function.prototype[Symbol.hasInstance].call(this, value);
      },
    },
  }) as unknown as ExceptionClass;
}

/** The member `exceptions` of an extension's context. */
export const exceptions: Exceptions = Object.freeze({
  BaseException,
  ...Object.fromEntries(
    Object.entries(KINDS).map(([name, [code, usual]]) => [name, exceptionClass(name, code, usual)]),
  ),
}) as Exceptions;
