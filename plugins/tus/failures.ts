import { Failure, Failures, fail } from '#kernel';
import { StatedFailure } from '../http/library.ts';

/** The status is what clients of tus go by, and the errors of other routes have none that fits. */
const stated = (status: number, code: string, message: string) =>
  new StatedFailure('INVALID_PAYLOAD', { status, code, message });

const LOCKED = 423;

/** Somebody else writes to the upload: the client comes again. */
export const locked = () => stated(LOCKED, 'UPLOAD_LOCKED', 'Another request is working on this upload.');

export const isLocked = (error: unknown): boolean => error instanceof StatedFailure && error.status === LOCKED;

export const wrongVersion = () =>
  stated(412, 'TUS_VERSION_NOT_SUPPORTED', 'The header Tus-Resumable must name version 1.0.0 of the protocol.');

/** One answer for what is not there and what is somebody else's. */
export const unknownUpload = (detail: string) => fail('FORBIDDEN', detail);

/** In bytes: what the request announces as the length of the upload, and what is allowed. */
export interface UploadSize {
  readonly length: number;
  readonly limit: number | undefined;
}

const tooLarge = ({ length, limit }: UploadSize) =>
  limit !== undefined && length > limit
    ? fail('CONTENT_TOO_LARGE', `The upload has ${length} bytes, more than the ${limit} allowed.`, { limit })
    : fail('CONTENT_TOO_LARGE', 'The request has more bytes than are left of the Upload-Length.');

/** What the library refuses with a status that our errors do not have, or have for something else. */
const BY_STATUS: Readonly<Record<number, (size: UploadSize) => Failure>> = {
  404: () => unknownUpload('there is no such upload'),
  409: () => stated(409, 'UPLOAD_OFFSET_MISMATCH', 'Upload-Offset is not where the upload ends.'),
  410: () => stated(410, 'UPLOAD_EXPIRED', 'The upload has expired.'),
  412: wrongVersion,
  413: tooLarge,
};

/** An error of ours that passed through the library, or what the library says by a status and a text. */
export function failureOf(error: unknown, size: UploadSize): unknown {
  if (error instanceof Failure || error instanceof Failures) return error;
  const { status_code: status, body = '' } = error as { status_code?: number; body?: string };
  if (status === undefined) return error;
  // 501 is said of extensions of the protocol that are not spoken here.
  if (status >= 500 && status !== 501) return new Error(body);
  return BY_STATUS[status]?.(size) ?? refusal(body);
}

function refusal(text: string): Failure {
  const reason = text.trim();
  if (/metadata/i.test(reason)) return fail('INVALID_METADATA', 'Upload-Metadata is not what the protocol asks for.');
  if (/^Invalid content-type|^Content-Type/i.test(reason)) {
    return fail('UNSUPPORTED_MEDIA_TYPE', 'The body must be application/offset+octet-stream.', { where: 'body' });
  }
  // It gave way to another request before it had written anything.
  if (/lock acquired/.test(reason)) return locked();
  return fail('INVALID_PAYLOAD', reason);
}
