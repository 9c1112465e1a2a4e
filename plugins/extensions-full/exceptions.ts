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

/** By class name: the error code and the default message. */
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

/** `instanceof` is also true for failures of the service: `error instanceof ForbiddenException`. */
function exceptionClass(name: string, code: ErrorCode, defaultMessage: string): ExceptionClass {
  const kind = class extends BaseException {
    constructor(message = defaultMessage, extensions: Details = {}) {
      // By convention the message of this class alone is a path.
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
        const isServiceFailure = this === kind && value instanceof Failure && value.code === code;
        return isServiceFailure || Function.prototype[Symbol.hasInstance].call(this, value);
      },
    },
  }) as unknown as ExceptionClass;
}

/** The member `exceptions` of an extension's context. */
export const exceptions: Exceptions = Object.freeze({
  BaseException,
  ...Object.fromEntries(
    Object.entries(KINDS).map(([name, [code, defaultMessage]]) => [name, exceptionClass(name, code, defaultMessage)]),
  ),
}) as Exceptions;
