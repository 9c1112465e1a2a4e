import { STATUS_CODES } from 'node:http';
import { ERRORS, type ErrorCode, Failure, Failures } from '#kernel';
import { CustomFailure } from '../http/library.ts';
import { BaseException } from './exceptions.ts';

/** The error code of the service for a status. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  400: 'INVALID_PAYLOAD',
  401: 'INVALID_CREDENTIALS',
  403: 'FORBIDDEN',
  404: 'ROUTE_NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'CONTENT_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'UNPROCESSABLE_ENTITY',
  429: 'REQUESTS_EXCEEDED',
  503: 'SERVICE_UNAVAILABLE',
};
const CODE = /^[\w.:-]{1,64}$/;

/**
 * Turns an error of an extension into the failure that the service answers: its exceptions with their status, code and
 * message; errors with a status between 400 and 499 likewise; all others unchanged, which is a 500 without the message.
 */
export function toServiceFailure(error: unknown): unknown {
  if (error instanceof Failure || error instanceof Failures) return error;
  if (Array.isArray(error)) {
    const all = error.map(toServiceFailure).filter((one) => one instanceof Failure);
    return all.length > 0 && all.length === error.length ? new Failures(all) : new Error('several errors');
  }
  if (isException(error)) return createStatedFailure(error.status, error.code, error.message, error.extensions);
  const { status, statusCode, expose, message } = (error ?? {}) as Record<string, unknown>;
  const refusalStatus = Number(status ?? statusCode);
  const isRefusal = Number.isInteger(refusalStatus) && refusalStatus >= 400 && refusalStatus < 500 && expose !== false;
  if (error instanceof Error && isRefusal)
    return createStatedFailure(refusalStatus, toErrorCode(refusalStatus), String(message), {});
  return error instanceof Error ? error : new Error(toText(error));
}

/** The data of the reject branch of a flow (conventions, "Operation, server half"). */
export function toFlowRejectData(error: unknown): unknown {
  if (isException(error)) return pickShown(error);
  if (error instanceof Failures) return toFlowRejectData(error.failures[0]);
  if (error instanceof Failure) {
    const { message, code } = error.toClientView({ admin: true });
    return pickShown({ message, code, extensions: error.extensions, status: error.status });
  }
  if (error instanceof Error) return { message: error.message };
  if (typeof error !== 'string') return error;
  try {
    return JSON.parse(error);
  } catch {
    return error;
  }
}

const pickShown = ({
  message,
  code,
  extensions,
  status,
}: Pick<BaseException, 'message' | 'code' | 'extensions' | 'status'>) => ({
  message,
  code,
  extensions,
  status,
});

/** Checks the prototype chain, because `instanceof` of these classes is also true for failures of the service. */
const isException = (error: unknown): error is BaseException =>
  error instanceof Object && Object.prototype.isPrototypeOf.call(BaseException.prototype, error);

function createStatedFailure(status: number, code: unknown, message: string, extensions: unknown): CustomFailure {
  const isStatus = Number.isInteger(status) && status >= 400 && status <= 599;
  const answeredStatus = isStatus ? status : 500;
  const knownCode = typeof code === 'string' && CODE.test(code) ? code : toErrorCode(answeredStatus);
  return new CustomFailure(isKnown(knownCode) ? knownCode : (CODES[answeredStatus] ?? 'INTERNAL_SERVER_ERROR'), {
    status: answeredStatus,
    code: knownCode,
    message,
    extensions: typeof extensions === 'object' && extensions !== null ? { ...extensions } : {},
  });
}

const isKnown = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

/** `409` → `CONFLICT`. */
const toErrorCode = (status: number): string =>
  CODES[status] ??
  (STATUS_CODES[status] ?? 'Internal Server Error')
    .toUpperCase()
    .replace(/'/g, '')
    .replace(/[^A-Z]+/g, '_');

function toText(value: unknown): string {
  try {
    return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  } catch {
    return 'a thrown value that cannot be shown';
  }
}
