import type { S3, S3ClientConfig } from '@aws-sdk/client-s3';
import type { S3Settings } from './settings.ts';
import { CONNECT_TIMEOUT } from './time-limits.ts';

/** The bucket of one location. */
export interface BucketClient {
  readonly settings: S3Settings;
  readonly bucket: string;
  key(name: string): string;
  /** Sends a request. Its error begins with `about` and has the error of the SDK as cause. */
  request<T>(about: string, request: (s3: S3) => Promise<T>): Promise<T>;
  close(): void;
}

export function createBucketClient(settings: S3Settings): BucketClient {
  let client: Promise<S3> | undefined;
  let isClosed = false;
  return {
    settings,
    bucket: settings.bucket,
    key: (name) => settings.root + name,
    async request(about, request) {
      if (isClosed) throw new Error('the connection to the bucket is closed');
      client ??= connect(settings);
      try {
        return await request(await client);
      } catch (error) {
        throw describeError(error, `${about} in the bucket ${settings.bucket}`);
      }
    },
    close() {
      isClosed = true;
      void client?.then((s3) => s3.destroy()).catch(() => {});
    },
  };
}

async function connect(settings: S3Settings): Promise<S3> {
  // The AWS SDK is loaded here: services without such a location save some megabytes of code.
  const { S3 } = await import('@aws-sdk/client-s3');
  return new S3(toClientConfig(settings));
}

const ATTEMPTS = 4;
const ignore = () => {};

const toClientConfig = ({ region, endpoint, forcePathStyle, credentials, checksums }: S3Settings): S3ClientConfig => ({
  region,
  forcePathStyle,
  ...(endpoint === undefined ? {} : { endpoint }),
  ...(credentials ? { credentials } : {}),
  retryMode: 'standard',
  maxAttempts: ATTEMPTS,
  // Many servers other than AWS reject CRC checksums beside the signed SHA-256 of the body.
  requestChecksumCalculation: checksums ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED',
  // Validation wraps the body in another stream, and destroying that one would leave the connection open.
  responseChecksumValidation: 'WHEN_REQUIRED',
  // With `Expect: 100-continue`, each part of a large object would open a connection of its own.
  expectContinueHeader: false,
  requestHandler: {
    connectionTimeout: CONNECT_TIMEOUT,
    // Each request has its own limit (time-limits.ts). A socket timeout would end downloads by clients that pause.
    socketTimeout: 0,
    throwOnRequestTimeout: true,
    // No limit on connections: slow downloads would block all other requests.
    httpAgent: { maxSockets: Number.POSITIVE_INFINITY },
    httpsAgent: { maxSockets: Number.POSITIVE_INFINITY },
  },
  // Errors are thrown; the SDK would also write them to the console.
  logger: { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore },
});

/** The members of an SDK error that are used here. */
interface SdkError extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number };
}

function describeError(error: unknown, about: string): Error {
  const { name, message, $metadata } = error as SdkError;
  const status = $metadata?.httpStatusCode;
  // A response to HEAD has no body, only a status.
  const reason = message && message !== 'UnknownError' ? `${name}: ${message}` : `the server answers ${status ?? name}`;
  return new Error(`${about}: ${reason}`, { cause: error });
}

/** True for a missing object. A missing bucket is an error of the settings. */
export function isMissingObjectError(error: unknown): boolean {
  const { name, $metadata } = ((error as Error).cause ?? {}) as SdkError;
  return name !== 'NoSuchBucket' && $metadata?.httpStatusCode === 404;
}

/** True if the server does not implement the request (501). */
export const isNotImplementedS3Error = (error: unknown): boolean =>
  (((error as Error).cause ?? {}) as SdkError).$metadata?.httpStatusCode === 501;

/** True if a retry would fail in the same way. */
export function isPermanentError(error: unknown): boolean {
  const status = (((error as Error).cause ?? {}) as SdkError).$metadata?.httpStatusCode;
  return status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429;
}
