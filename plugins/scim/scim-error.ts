import { type ErrorCode, errorEnvelope, Failure, Failures } from '#kernel';
import { CustomFailure } from '../http/library.ts';

export const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** Kinds of errors (RFC 7644, section 3.12). */
export type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'uniqueness';

type ScimStatus = 400 | 403 | 404 | 409 | 412;

/** The nearest code of the service, for code that checks the kind of a failure. */
const NEAREST_CODE: Readonly<Record<ScimStatus, ErrorCode>> = {
  400: 'INVALID_PAYLOAD',
  403: 'FORBIDDEN',
  404: 'ROUTE_NOT_FOUND',
  409: 'RECORD_NOT_UNIQUE',
  412: 'UNPROCESSABLE_ENTITY',
};

/** A failure that a SCIM client is answered; `detail` is shown to it. */
export function scimFailure(status: ScimStatus, detail: string, scimType?: ScimType): CustomFailure {
  const code = NEAREST_CODE[status];
  return new CustomFailure(code, { status, code, message: detail, extensions: scimType ? { scimType } : {} });
}

/** Refuses a request for what the client may not do, with a reason that it may see. */
export const refuse = (detail: string) => scimFailure(403, detail);

/** Status and kind of failures that other plugins throw; of codes that are not here the status stands. */
const OF_CODE: Partial<Record<ErrorCode, { readonly status?: number; readonly scimType?: ScimType }>> = {
  RECORD_NOT_UNIQUE: { status: 409, scimType: 'uniqueness' },
  FAILED_VALIDATION: { scimType: 'invalidValue' },
  // Rows refer to a user that is deleted, or a role of the settings does not exist.
  INVALID_FOREIGN_KEY: { status: 409 },
  NOT_NULL_VIOLATION: { scimType: 'invalidValue' },
  VALUE_OUT_OF_RANGE: { scimType: 'invalidValue' },
  VALUE_TOO_LONG: { scimType: 'invalidValue' },
  INVALID_QUERY: { scimType: 'invalidValue' },
  INVALID_PAYLOAD: { scimType: 'invalidSyntax' },
  // The last admin of the service stays.
  UNPROCESSABLE_ENTITY: { status: 403 },
};

export interface ScimErrorAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Status and body of the answer to any error (RFC 7644, section 3.12). */
export function toScimErrorAnswer(error: unknown): ScimErrorAnswer {
  const first = error instanceof Failures ? error.failures[0] : error;
  const { status: ownStatus, body } = errorEnvelope(error, { admin: false });
  const rule = first instanceof Failure && !(first instanceof CustomFailure) ? OF_CODE[first.code] : undefined;
  const status = rule?.status ?? ownStatus;
  const scimType = first instanceof CustomFailure ? first.extensions.scimType : rule?.scimType;
  const detail = body.errors.map(({ message }) => message).join(' ');
  return {
    status,
    body: { schemas: [ERROR_SCHEMA], status: String(status), ...(scimType ? { scimType } : {}), detail },
  };
}

/** The code of PostgreSQL for a row that a unique constraint refuses. */
const UNIQUE_VIOLATION = '23505';

/** Runs a write; a name that another row has is 409. */
export async function withUniqueNames<T>(attribute: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
    throw scimFailure(409, `Another resource has this ${attribute}.`, 'uniqueness');
  }
}
