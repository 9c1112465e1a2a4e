import { Failure, Failures, fail } from '#kernel';
import { CustomFailure } from '../http/library.ts';

/** Clients of tus depend on the status, and no error code of other routes has a fitting one. */
const createStatusFailure = (status: number, code: string, message: string) =>
  new CustomFailure('INVALID_PAYLOAD', { status, code, message });

const LOCKED = 423;

/** The failure while another request writes to the upload: the client retries. */
export const createUploadLockedFailure = () =>
  createStatusFailure(LOCKED, 'UPLOAD_LOCKED', 'Another request is working on this upload.');

export const isUploadLockedFailure = (error: unknown): boolean =>
  error instanceof CustomFailure && error.status === LOCKED;

export const createTusVersionFailure = () =>
  createStatusFailure(
    412,
    'TUS_VERSION_NOT_SUPPORTED',
    'The header Tus-Resumable must name version 1.0.0 of the protocol.',
  );

/** The same failure for a missing upload and for the upload of another user. */
export const createUnknownUploadFailure = (detail: string) => fail('FORBIDDEN', detail);

/** Sizes in bytes: the announced length of the upload, and the limit. */
export interface UploadLengthAndLimit {
  readonly length: number;
  readonly limit: number | undefined;
}

const createTooLargeFailure = ({ length, limit }: UploadLengthAndLimit) =>
  limit !== undefined && length > limit
    ? fail('CONTENT_TOO_LARGE', `The upload has ${length} bytes, more than the ${limit} allowed.`, { limit })
    : fail('CONTENT_TOO_LARGE', 'The request has more bytes than are left of the Upload-Length.');

/** Failures for the statuses of the tus library. */
const BY_STATUS: Readonly<Record<number, (size: UploadLengthAndLimit) => Failure>> = {
  404: () => createUnknownUploadFailure('there is no such upload'),
  409: () => createStatusFailure(409, 'UPLOAD_OFFSET_MISMATCH', 'Upload-Offset is not where the upload ends.'),
  410: () => createStatusFailure(410, 'UPLOAD_EXPIRED', 'The upload has expired.'),
  412: createTusVersionFailure,
  413: createTooLargeFailure,
};

/** Converts an error of the tus library (status and text) to a failure. Failures of the service pass unchanged. */
export function toTusFailure(error: unknown, size: UploadLengthAndLimit): unknown {
  if (error instanceof Failure || error instanceof Failures) return error;
  const { status_code: status, body = '' } = error as { status_code?: number; body?: string };
  if (status === undefined) return error;
  // The library answers 501 for extensions of the protocol that are not enabled.
  if (status >= 500 && status !== 501) return new Error(body);
  return BY_STATUS[status]?.(size) ?? toRefusal(body);
}

function toRefusal(text: string): Failure {
  const reason = text.trim();
  if (/metadata/i.test(reason)) return fail('INVALID_METADATA', 'Upload-Metadata is not what the protocol asks for.');
  if (/^Invalid content-type|^Content-Type/i.test(reason)) {
    return fail('UNSUPPORTED_MEDIA_TYPE', 'The body must be application/offset+octet-stream.', { where: 'body' });
  }
  // The request released the lock for another one before it wrote anything.
  if (/lock acquired/.test(reason)) return createUploadLockedFailure();
  return fail('INVALID_PAYLOAD', reason);
}
