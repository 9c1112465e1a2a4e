import { ERRORS, type ErrorCode } from '#kernel';
import { inlineCode, markdownPage, markdownTable } from './markdown.ts';

/** When a client meets each code, and what to do about it. */
const MEANINGS: Readonly<Record<ErrorCode, string>> = {
  FAILED_VALIDATION:
    'A value breaks a validation rule of the field or of the role. `extensions` has `field`, `type` and, where it helps, the allowed values.',
  INVALID_PAYLOAD:
    'The body is no JSON, has the wrong shape, or names a field that does not exist. `extensions.reason` says what; `path` says where.',
  INVALID_QUERY:
    'A query parameter cannot be read, names an unknown operator, or exceeds a limit. `extensions.reason` says which.',
  INVALID_PATH_PARAMETER: 'A part of the path cannot be read, such as a key that is no number.',
  INVALID_FOREIGN_KEY:
    'The value of a relation names a row that does not exist, or a row that others refer to is deleted.',
  RECORD_NOT_UNIQUE: 'Another row has this value already.',
  NOT_NULL_VIOLATION: 'A required field has no value.',
  VALUE_OUT_OF_RANGE: 'A number or date is outside of what the column holds. `extensions.allowed` has the range.',
  VALUE_TOO_LONG: 'A text is longer than the column holds. `extensions.allowed` has the length.',
  CONTAINS_NULL_VALUES: 'A column cannot become required while rows have no value in it.',
  ILLEGAL_ASSET_TRANSFORMATION:
    'The requested image is outside of the limits, or the transformation policy does not allow it.',
  INVALID_METADATA: 'The metadata of a resumable upload cannot be read.',
  INVALID_CREDENTIALS:
    'Wrong e-mail address or password, or a refresh token that is not valid. The answer never says which.',
  INVALID_OTP: 'The one-time code is missing or wrong.',
  INVALID_IP: 'The role of the user does not allow this address.',
  INVALID_PROVIDER: 'The user signs in by another provider.',
  TOKEN_EXPIRED: 'The access token is past its time. Refresh the session.',
  USER_SUSPENDED:
    'The user is suspended, for example after too many failed sign-ins. An admin sets `status` back to `active`.',
  INVALID_TOKEN: 'The token is not valid here.',
  FORBIDDEN: 'The caller’s permissions do not allow it, or it does not exist. The answer never says which.',
  ROUTE_NOT_FOUND: 'There is no such path; admins also get it for collections, fields and relations that do not exist.',
  METHOD_NOT_ALLOWED: 'The path exists, and not with this method. The header `Allow` lists those it has.',
  OUT_OF_TIME:
    'The request took longer than its limit (`DB_STATEMENT_TIMEOUT`, `WRITE_TIMEOUT`, `STREAM_STALL_TIMEOUT`). Nothing was written.',
  CONTENT_TOO_LARGE: 'The body is larger than the limit (`MAX_PAYLOAD_SIZE`, `FILES_MAX_UPLOAD_SIZE`).',
  UNSUPPORTED_MEDIA_TYPE: 'The `Content-Type` of the body is none that the route reads.',
  RANGE_NOT_SATISFIABLE: 'The requested range lies behind the end of the file.',
  UNPROCESSABLE_ENTITY:
    'The request is readable and cannot be carried out as things are, such as deleting the last admin.',
  REQUESTS_EXCEEDED: 'Too many requests. Wait and try again.',
  INTERNAL_SERVER_ERROR: 'An unexpected error. Only admins see its message; the log has all of it.',
  CAPABILITY_DENIED:
    'A plugin did what its manifest does not declare. The ledger counts it; the log names plugin and capability.',
  EVENT_LOOP_DETECTED: 'A listener emitted, directly or through others, the event that it listens to.',
  SERVICE_UNAVAILABLE: 'The database, a storage location or a limited resource is not available now. Try again.',
  GUARD_NOT_LOADED:
    'A required extension that has to check this write is not loaded. An admin finds the reason at `GET /extensions`.',
  INVALID_CONFIG: 'A setting that only this request needs is missing or wrong.',
};

/** docs/reference/errors.md: every code of the service, with its status. */
export const renderErrorsReferencePage = (): string =>
  markdownPage(
    'Errors',
    `Errors are \`{"errors": [{"message", "extensions": {"code", …}}]}\`. Several errors of one request, such as one for each broken
validation rule, stand in one list; the status is that of the first. \`extensions.path\` says where in the body it is. Messages
marked as hidden are shown to admins only. \`GRAPHQL_VALIDATION_EXCEPTION\` (400) is of GraphQL alone: the document asks for what the caller's
schema does not have, or exceeds a limit of documents; \`extensions.graphqlErrors\` has all errors of it.`,
    markdownTable(
      ['Code', 'Status', 'Message', 'When, and what to do'],
      (Object.entries(ERRORS) as [ErrorCode, { status: number; expose: boolean; fixed?: string }][]).map(
        ([name, { status, expose, fixed }]) => [
          inlineCode(name),
          String(status),
          expose ? (fixed ?? 'says what is wrong') : 'hidden',
          MEANINGS[name],
        ],
      ),
    ),
  );
